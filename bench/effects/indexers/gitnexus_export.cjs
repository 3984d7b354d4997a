// Runs inside the sandbox, from standard input, after `gitnexus analyze`: reads its database (argv[2]) and writes every node
// and every relation that the normaliser knows of to argv[3], one JSON value a line. Decides nothing, orders nothing.
const fs = require('node:fs');
const { createRequire } = require('node:module');
const { Database, Connection } = createRequire('/opt/gitnexus/node_modules/gitnexus/package.json')('@ladybugdb/core');

const RELATIONS = ['DEFINES', 'HAS_METHOD', 'HAS_PROPERTY', 'CALLS', 'CDG', 'REACHING_DEF'];
const POOL_BYTES = 512 * 1024 * 1024;

async function main([database, target]) {
  const connection = new Connection(new Database(database, POOL_BYTES, true, true));
  const query = async (text) => (await connection.query(text)).getAll();
  const out = fs.openSync(target, 'w');
  const line = (value) =>
    fs.writeSync(out, JSON.stringify(value, (key, item) => (typeof item === 'bigint' ? Number(item) : item)) + '\n');
  const tables = (await query('CALL show_tables() RETURN name, type')).filter((table) => table.type === 'NODE');
  for (const { name } of tables) {
    const columns = (await query(`CALL table_info('${name}') RETURN name`)).map((column) => column.name);
    const wanted = ['id', 'name', 'filePath', 'startLine', 'endLine', 'text'].filter((column) => columns.includes(column));
    if (!wanted.includes('filePath')) continue;
    const fields = wanted.map((column) => `n.${column} AS ${column}`).join(', ');
    for (const row of await query(`MATCH (n:\`${name}\`) RETURN ${fields}`)) line({ ...row, table: name });
  }
  for (const relation of RELATIONS) {
    const pairs = `MATCH (a)-[r:CodeRelation]->(b) WHERE r.type = '${relation}'`;
    for (const row of await query(`${pairs} RETURN a.id AS source, b.id AS target, r.reason AS reason`)) {
      line({ ...row, relation });
    }
  }
  line({ end: true });
}

main(process.argv.slice(2)).catch((error) => {
  console.error(String(error));
  process.exitCode = 1;
});
