"""The same commands on a Dask cluster (``--cluster``): what is partitioned, where it lies, and who adds it up.

Dask does the scheduling, the transport and the retries; what a task computes is done by the functions that the command
calls on one machine, so that the bytes are the same. The layer stands beside ``pipeline``: it imports the methods and
is imported by ``cli`` alone. ``distributed`` is imported inside functions, so that nothing else needs the extra.

One rule for data: what is large lies in files of a folder that all workers see (``joined.Part``, complete or absent),
what is small travels as the results of tasks. So memory is bounded by the partition, the client holds vocabularies and
tables but no text and no matrix, and a worker that is lost costs the tasks that it worked on. Parts are joined into the
artifact by a task, on a worker.

What each command makes a partition of, and what becomes of it:

- ``encode --words``: bytes of a file that end at a line end become provisional ids and types by shard. Shards of types
  are summed and pruned by tasks, the client chooses and orders, and tasks rename the ids of each partition.
- ``encode --phrases``: pairs are counted by partition, summed by groups, and joined in each partition, pass by pass.
- ``encode --tokenizer``: the same stretches become ids and frequencies, which are summed.
- ``bpe-train``: pieces with their counts, summed in the order of the text; merges are learned once, by the client.
- ``cooc``: a range of tokens, and what its windows reach, becomes rows of whole sums, which tasks add up and divide by
  ranges of rows; documents are counted by ranges of rows. Several inputs are added up over the words of all.
- ``svd``: rows of the weighted matrix, and of its transpose, stay on the workers, which multiply them by 16 columns at
  a time; the bases and the small factors are the client's.
- ``word2vec``, ``fasttext``: shares of the text (``--shares``) are trained side by side for a round, and the rows that
  they changed are merged in the order of the shares.
- ``glove``: blocks of rows and stretches of columns that share neither words nor contexts are visited side by side, in
  the order of one machine.
"""
