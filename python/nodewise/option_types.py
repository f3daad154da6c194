"""Options as keywords with their types. Written by scripts/option-types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class SetupOptions(TypedDict, total=False):
    """Of a setup and its solves."""

    # options for a kind of problem (docs/methods/presets.md); given ones win over them; default auto.
    preset: str
    # Krylov method; default auto.
    solver: str
    # Parts that the residual is split into, and directions that are searched at once; default 4.
    enlarging_factor: int
    # Basis vectors that are kept before a restart; default 50.
    restart: int
    # Shadow vectors of IDR(s), s: more take fewer iterations and more memory; default 4.
    idr_dimension: int
    # Which rank has which rows, or which virtual rank; solutions come back in the order of the file; default none.
    partition: str
    # points up to which rank 0 alone divides the graph among nodes, by METIS; more are divided by PT-Scotch on all
    # ranks, where there is one; default 2000000.
    serial_points: int
    # a line for each row with the number of its rank, from 0 on; compressed by gzip, too; default none.
    partition_file: str
    # Which rank has which of the partition's parts; ranks stay where they are, but virtual ones are dealt to nodes of
    # `ranks_per_node` by it; default none.
    placement: str
    # What ranks get equal shares of, in the order of the rows or in a partition; automatic: rows without a partition,
    # nonzeros in one; default automatic.
    balance: str
    # In which order rows are numbered; solutions come back in the order of the file; default none.
    reorder: str
    # In which order the preconditioner sees the rows; the system solved, its residual and its tolerance stay those
    # given; default auto.
    permute_rows: str
    # How the matrix is scaled that the preconditioner sees, where equations or unknowns have very different sizes;
    # likewise; default none.
    scale: str
    # What turns a residual into a correction; default amg.
    preconditioner: str
    # Levels of fill of the incomplete factors; default 1.
    ilu_levels: int
    # Entries of the factors that are dropped, as a share of their row; 0: by levels; default 0.
    ilu_drop: float
    # Entries that a row of the factors keeps, times those of the row of the matrix; default 10.
    ilu_fill: float
    # Layers of rows of other ranks that a rank solves for as well; 0: none; default 1.
    ilu_overlap: int
    # Operations a rank that the factors may take, by MUMPS's estimate; 0: any number; default 0.
    factor_limit: float
    # Which rows are the second field, that of a pressure or a multiplier; default auto.
    fields: str
    # What stands for the Schur complement C - B F^-1 G of (F G; B C); default auto.
    schur: str
    # Which triangles of (F G; B C) are kept; default upper.
    split: str
    # What F and the Schur complement are solved with, above 300 rows; default auto.
    field_solve: str
    # Which unknown of each point is its pressure, counted from 0; default 0.
    cpr_unknown: int
    # Where the system is solved (docs/methods/gpu.md); default none.
    device: str
    # Where levels are set up (docs/methods/gpu.md); default host.
    device_setup: str
    # How data on devices get to other ranks, whatever the route; default automatic.
    device_transport: str
    # The card of each rank of a node, such as 0,0,1,1; without it ranks go round the cards; default none.
    device_map: str
    # Take it that MPI knows the memory of cards, whatever it says when asked; default false.
    trust_mpi: bool
    # stop when the norm of the residual b - A x, computed from x, is at most this times that of b; default 1e-08.
    tolerance: float
    # stop also when that norm is at most this, whatever b is; default 0.
    absolute_tolerance: float
    # the norm of the residual r that is tested: the 2-norm of r itself, that of M r with the preconditioner M, or the
    # root of r.Mr; gmres, fgmres, gcr, bicgstab and idr know the first only; default unpreconditioned.
    norm: str
    # the most iterations; each applies the preconditioner once, of bicgstab twice; default 1000.
    max_iterations: int
    # give up after this many iterations in which the residual has not fallen; 0: never; -1: half of `max_iterations`,
    # but 300 at least; default -1.
    stagnation_window: int
    # How a level is joined to the next; default classical.
    method: str
    # An entry is strong when its size exceeds this fraction of the row's largest; default 0.25.
    strength_threshold: float
    # What counts as the size of an entry; default automatic.
    strength_measure: str
    # Rows whose sum exceeds this fraction of the diagonal have no strong entries; 1: off; default 0.9.
    max_row_sum: float
    # How the coarse points are chosen; default hmis.
    coarsening: str
    # So many of the finest levels are coarsened twice at once, the second time by paths of two dependences, and
    # interpolated by multipass; default 0.
    aggressive_levels: int
    # How many such paths make a dependence: with 2 fewer points are dropped than with 1; default 1.
    aggressive_paths: int
    # The formula of the prolongation; default automatic.
    interpolation: str
    # Longest row of the interpolation; 0: any length; default 4.
    max_interpolation_entries: int
    # Interpolation weights below this fraction of the row's largest are dropped; default 0.
    interpolation_truncation: float
    # What interpolation makes of couplings to fine points that depend on no other, whose error relaxation alone
    # removes; default dropped.
    isolated_couplings: str
    # Points are strongly connected where |a_ij| exceeds this times sqrt |a_ii a_jj|, norms of blocks where points
    # have several unknowns; negative: 0.02, for such points 0.05, and 0.25 for classical strength; default -1.
    aggregation_threshold: float
    # What entries are compared with to see which connections are strong; default symmetric.
    aggregation_strength: str
    # How points are grouped; default independent_set.
    aggregates: str
    # Points of the independent set are more connections apart than this; default 2.
    aggregation_distance: int
    # Jacobi sweeps that smooth the prolongation of an aggregation; default 1.
    prolongation_sweeps: int
    # Their damping, divided by the spectral radius of the scaled matrix; default 1.3333333333333333.
    prolongation_weight: float
    # Whether that weight is divided by that radius, which else is not estimated; default true.
    scale_prolongation_weight: bool
    # Whether they leave out weak entries of the matrix, lumped into the diagonal; default false.
    filter_prolongation: bool
    # Relaxation of the near null space on the finest level, before it is aggregated; default 0.
    candidate_sweeps: int
    # What that is; default jacobi.
    candidate_relaxation: str
    # That of an aggregation; default transposed.
    restriction: str
    # Graph distance of the fine points used to build each restriction row; default 2.
    restriction_distance: int
    # Which couplings are strong for that: the modulus exceeds this fraction of the row's largest; default 0.05.
    restriction_threshold: float
    # Weights of that restriction below this fraction of the row's largest are dropped; default 0.
    restriction_truncation: float
    # Entries of coarse matrices below this fraction of the row's largest are added to the diagonal instead; 0: none;
    # default 0.001.
    coarse_filter: float
    # Rows that belong to one point, such as the displacements of a node, interleaved; classical coarsening takes each
    # unknown by itself; default 1.
    unknowns: int
    # Of the weights that decide between equal points, and of estimates of spectral radii; default 0.
    seed: int
    # The relaxation; those of blocks solve for all unknowns of a point at once; default l1_gauss_seidel.
    smoother: str
    # Weight of Gauss-Seidel sweeps, below 2; above 1 it is over-relaxation; default 1.
    sor_weight: float
    # How sweeps run through the rows; default automatic.
    sweep_order: str
    # Jacobi sweeps in the place of each triangular solve; default 1.
    inner_sweeps: int
    # Damping of the sweeps; default 0.6666666666666666.
    jacobi_weight: float
    # Products in one sweep; default 2.
    chebyshev_degree: int
    # Where the part of the spectrum that is reduced begins, in units of the spectral radius; default 0.3.
    chebyshev_fraction: float
    # Jacobi sweeps over the fine points in one sweep; default 2.
    fine_sweeps: int
    # Jacobi sweeps over the coarse points that follow them; default 1.
    coarse_sweeps: int
    # How the levels are visited; default v.
    cycle: str
    # Sweeps before the coarse correction; default 1.
    pre_sweeps: int
    # Sweeps after the coarse correction; default 1.
    post_sweeps: int
    # Of the cycle: that of the matrix, or single, which moves half as much data; auto is single where the matrix is
    # symmetric and rounding does not matter to it; default same.
    precision: str
    # Most levels, the finest included; default 25.
    max_levels: int
    # Coarsening ends at a matrix with no more rows, which is solved directly; beyond 2000 by `coarse_solve factors`
    # alone; default 100.
    max_coarse_rows: int
    # Who solves the coarsest system, and by what; default auto.
    coarse_solve: str
    # On how many ranks coarse levels are; on fewer they send fewer messages. Where the ranks of a solve are on
    # several nodes it is automatic, unless it is given; default none.
    redistribution: str
    # The ranks that have rows of levels 1, 2, ..., such as 64,16,1; the last number is for all deeper levels; default
    # 1.
    active_ranks: str
    # A level that is on one rank is copied to one rank of each node, which solve it and those below it without
    # sending anything; default false.
    redundant: bool
    # Coarse levels are on so few ranks that each has as many rows at least; default 50.
    rows_per_rank: int
    # Which ranks give their rows of such a level to one of them; default node.
    redistribution_groups: str
    # How right-hand sides and corrections get to the ranks of such a level and back; default direct.
    redistribution_move: str
    # Which coarse matrices lose small entries, so that their ranks have fewer neighbours; default none.
    sparsification: str
    # Which entries coarse matrices lose; default entries.
    drop: str
    # Entries of the coarse matrices of levels 1, 2, ... go that are smaller than this fraction of the largest off-
    # diagonal one of their row and of their column, such as 0,0.01,0.1,1; the last number is for all deeper levels, 0
    # drops nothing; default 0,0.01,0.1.
    drop_tolerance: str
    # What a row of the coarse matrices of levels 1, 2, ... may lose of the sum of its off-diagonal entries; the last
    # number is for all deeper levels, 0 drops nothing; default 0.2.
    drop_loss: str
    # Where the entries go that coarse matrices lose; default diagonal.
    lumping: str
    # An entry of a coarse matrix is strong, and may take what is dropped, when its size exceeds this fraction of the
    # row's largest; default 0.25.
    lumping_threshold: float
    # An entry of a coarse matrix is strong, and may take what is dropped, when its size exceeds this fraction of the
    # row's largest; hypre takes 0.333 times its strength threshold; default 0.08325.
    hypre_lumping_threshold: float
    # A row of a coarse matrix whose sum exceeds this fraction of its diagonal has no strong entries; hypre takes its
    # maximal row sum; 1 switches that off; default 0.9.
    hypre_lumping_row_sum: float
    # Coarse matrices get entries back during a solve that converges too slowly, the finest first; they keep them for
    # the next; default false.
    adaptive: bool
    # So many iterations are looked at together; default 3.
    adaptive_iterations: int
    # On so many levels entries come back at once; default 1.
    adaptive_levels: int
    # The average factor of convergence that is good enough for nothing to come back; default 0.6.
    adaptive_factor: float
    # How data travels between nodes: straight to every rank, once from each rank to each node, or gathered on the
    # node and once from node to node; or a list by level, such as direct,three_step, whose last word is for all
    # deeper levels. automatic: on each level what costs least on `machine`, or by a short look at the network, which
    # is what a solve takes where the ranks are on several nodes and no route is given; default direct.
    route: str | Sequence[str]
    # The same for what travels while the hierarchy is set up, matrix rows above all; without it, the route of the
    # solve; default none.
    setup_route: str | Sequence[str]
    # The first level that takes these routes; finer ones are direct; default 0.
    route_from_level: int
    # By which means of MPI messages travel in the solve, on every level or by level. shared_memory is for messages on
    # a node, those between nodes are then point_to_point. automatic, which a solve takes where none is given: what a
    # short trial on each level finds quicker by a tenth, or point_to_point where expected_solves are too few for a
    # trial to pay; default none.
    transport: str | Sequence[str]
    # The same for the setup, where the lengths of messages vary; default none.
    setup_transport: str | Sequence[str]
    # What is computed while messages travel in the solve, on every level or by level. none: nothing; naive, taken
    # where nothing is given: what needs no ghosts, while MPI carries what it carries by itself; task: the same on all
    # threads but one, which does nothing but exchange; automatic: what a short trial of each level's product finds;
    # default naive.
    overlap: str | Sequence[str]
    # How many solves the hierarchy is to serve, in which what is spent on automatic routes, transports and partitions
    # must be saved; transports are tried from 25 on; default 1.
    expected_solves: int
    # Another name of tolerance.
    tol: float
    # Another name of solver.
    accel: str
    # Another name of max_coarse_rows.
    max_coarse: int


class SolverOptions(SetupOptions, total=False):
    """Likewise, with SciPy's names."""

    # Another name of tolerance.
    rtol: float
    # Another name of absolute_tolerance.
    atol: float
    # Another name of max_iterations.
    maxiter: int


class SolveOptions(TypedDict, total=False):
    """Of one solve, beside those that Solver.solve() names."""

    # Krylov method; default auto.
    solver: str
    # Parts that the residual is split into, and directions that are searched at once; default 4.
    enlarging_factor: int
    # Basis vectors that are kept before a restart; default 50.
    restart: int
    # Shadow vectors of IDR(s), s: more take fewer iterations and more memory; default 4.
    idr_dimension: int
    # stop when the norm of the residual b - A x, computed from x, is at most this times that of b; default 1e-08.
    tolerance: float
    # stop also when that norm is at most this, whatever b is; default 0.
    absolute_tolerance: float
    # the norm of the residual r that is tested: the 2-norm of r itself, that of M r with the preconditioner M, or the
    # root of r.Mr; gmres, fgmres, gcr, bicgstab and idr know the first only; default unpreconditioned.
    norm: str
    # the most iterations; each applies the preconditioner once, of bicgstab twice; default 1000.
    max_iterations: int
    # give up after this many iterations in which the residual has not fallen; 0: never; -1: half of `max_iterations`,
    # but 300 at least; default -1.
    stagnation_window: int
