"""Peers of `bench scan`: numpy, faiss-cpu and usearch, each where it can be imported, one thread.
  scan.py FOLDER DIM RUNS RESULT   reads FOLDER/vectors.f32 and queries.f32, writes RESULT as JSON"""
import os
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import json, sys, time
import numpy as np

folder, dim, runs, result = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
# Mapped: at a million rows there must not be a second copy in memory.
X = np.memmap(f"{folder}/vectors.f32", np.float32, "r").reshape(-1, dim)
Q = np.fromfile(f"{folder}/queries.f32", np.float32).reshape(-1, dim)
out = []


def measure(name, nbytes, search):
    for i in range(3):
        search(i % len(Q))
    times, found = [], []
    for i in range(runs):
        start = time.perf_counter()
        ids = search(i % len(Q))
        times.append((time.perf_counter() - start) * 1e3)
        found.append([int(x) for x in ids])
    out.append({"name": name, "times": times, "found": found, "bytes": nbytes})


def top(scores):
    part = np.argpartition(-scores, 10)[:10]
    return part[np.argsort(-scores[part])]


def parts(make):
    """`make` over all rows, in parts: its floats in between need memory too."""
    return np.concatenate([make(X[i:i + 50_000]) for i in range(0, len(X), 50_000)])


def signs(rows):
    return np.packbits(rows > 0, axis=1)


def bytes_of(rows):
    return np.round(rows * 127).astype(np.int8)


measure("numpy float32", X.nbytes, lambda i: top(X @ Q[i]))

try:
    import faiss
    faiss.omp_set_num_threads(1)
    flat = faiss.IndexFlatIP(dim)
    for i in range(0, len(X), 50_000):
        flat.add(X[i:i + 50_000])
    measure("faiss FlatIP", X.nbytes, lambda i: flat.search(Q[i:i + 1], 10)[1][0])
    del flat
    sq8 = faiss.IndexScalarQuantizer(dim, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
    sq8.train(X[:20000])
    for i in range(0, len(X), 50_000):
        sq8.add(X[i:i + 50_000])
    measure("faiss SQ8", X.nbytes // 4, lambda i: sq8.search(Q[i:i + 1], 10)[1][0])
    del sq8
    B, QB = parts(signs), signs(Q)
    binary = faiss.IndexBinaryFlat(B.shape[1] * 8)
    binary.add(B)
    measure("faiss BinaryFlat", B.nbytes, lambda i: binary.search(QB[i:i + 1], 10)[1][0])
except ImportError:
    pass

try:
    from usearch.index import MetricKind, search as exact
    measure("usearch exact f32", X.nbytes, lambda i: exact(X, Q[i], 10, MetricKind.IP, exact=True, threads=1).keys)
    S, QS = parts(bytes_of), bytes_of(Q)
    measure("usearch exact i8", S.nbytes, lambda i: exact(S, QS[i], 10, MetricKind.IP, exact=True, threads=1).keys)
    del S
    B, QB = parts(signs), signs(Q)
    measure("usearch exact bits", B.nbytes, lambda i: exact(B, QB[i], 10, MetricKind.Hamming, exact=True, threads=1).keys)
except Exception as error:
    print(f"usearch left out: {error}", file=sys.stderr)

json.dump(out, open(result, "w"))
