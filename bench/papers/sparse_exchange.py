"""Patterns of matrices for the commands of the sparse exchange's paper."""

from study import MATRICES

PLAIN = ("personalized", "nonblocking", "rma")
AWARE = ("locality_personalized", "locality_nonblocking", "locality_dense", "locality_rma")

# Square matrices of the shared folder, and model problems, 35 together; beyond 2,048 rows each.
FILES = ["bcsstk16", "bcsstk18", "bentpipe2d_100", "ca-CondMat", "cage11", "cavity14", "ct2010", "delaunay_n16",
         "evsl_stiff1", "fem_actii_poisson", "fem_beam_111k", "fem_beam_16k", "fem_dg_24k", "hypre_ams_edge",
         "hypre_beam_tet_2475", "ibmpg1", "memplus", "nasa4704", "pflare_stream_2364", "rail_79841",
         "restricted_channel_3d", "s1rmq4m1", "sherman3", "usroads-48", "wave"]
PROBLEMS = ["laplace5:300", "laplace7:48", "laplace9:300", "laplace27:48", "rotated_fe:300", "rotated_fd:300",
            "convection2d:300", "convection3d:48", "unstructured:200", "random:20000"]
ASSUMPTIONS = (
    "Rows are dealt out evenly in the order of the file; a rank sends to every owner of a column that it has entries in: one "
    "number of 4 bytes (constant), or the numbers of these columns (variable). 32 ranks a node, one after the other.",
    "One-sided algorithms take messages of one size, and have made their window in an earlier call. `known_number`: every rank knows "
    "how many messages will come to it; the paper has no such column.",
    "Counts are exact: a test compares them with those of real exchanges on 1 to 8 ranks. Joined messages carry 16 bytes for each "
    "that is in them.",
    "Times are the event simulation's for the machine file `blue-waters` with the overheads that it assumes, collectives by "
    "recursive halving and doubling; the paper measured on Quartz with MVAPICH2 and Open MPI.",
)


def best(rows, names, key="simulated_s"):
    """The quickest of some algorithms."""
    return min((row for row in rows if row["algorithm"] in names), key=lambda row: row[key])


def files():
    """Those that are here."""
    return [path for name in FILES if (path := MATRICES / f"{name}.mtx.gz").exists()]
