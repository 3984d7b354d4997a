"""Pure code: records, digests, keys, corpus, matrix, scoring, medians, health, cost. Touches nothing."""
