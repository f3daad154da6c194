# Copyright of the recipe as of Nodewise: MIT. Not run by Nodewise's CI, which checks its syntax and the
# names of CMake's options.
from spack.package import *


class Nodewise(CMakePackage):
    """Algebraic multigrid over MPI that knows which ranks share a node: solvers, node-aware exchange
    and collectives, cost models, and a command line."""

    homepage = "https://example.org/nodewise"  # of the repository, as below
    url = "https://example.org/nodewise/archive/refs/tags/v0.1.0.tar.gz"
    git = "https://example.org/nodewise.git"

    license("MIT")
    tags = ["e4s", "linear solver", "multigrid"]

    version("main", branch="main")
    # version("0.1.0", sha256="of the release")

    variant("shared", default=True, description="Build shared libraries")
    variant("openmp", default=True, description="Threads within ranks")
    variant("hwloc", default=True, description="Threads on cores of their own")
    variant("metis", default=True, description="Partitions by METIS")
    variant("scotch", default=False, description="Partitions by PT-Scotch")
    variant("mumps", default=True, description="Factors of matrices by MUMPS")
    variant("boost", default=True, description="Reverse Cuthill-McKee by Boost.Graph")
    variant("cuda", default=False, description="Solve on graphics cards of NVIDIA")
    variant("petsc", default=False, description="A preconditioner for programs with PETSc")

    depends_on("cxx", type="build")
    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3:")
    depends_on("fmt@8:")
    depends_on("eigen@3.4:", type="build")
    depends_on("nlohmann-json@3:", type="build")
    depends_on("cli11@2:", type="build")
    depends_on("fast-float", type="build")
    depends_on("zlib-api")
    depends_on("hwloc@2:", when="+hwloc")
    depends_on("metis@5:", when="+metis")
    depends_on("scotch+mpi", when="+scotch")
    depends_on("mumps+mpi", when="+mumps")
    depends_on("boost+graph", when="+boost", type="build")
    depends_on("cuda@12:", when="+cuda")
    depends_on("petsc@3.18:+mpi", when="+petsc")

    conflicts("%gcc@:10", msg="C++20 is needed")
    conflicts("%clang@:13", msg="C++20 is needed")

    def cmake_args(self):
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("NODEWISE_OPENMP", "openmp"),
            self.define_from_variant("NODEWISE_HWLOC", "hwloc"),
            self.define_from_variant("NODEWISE_METIS", "metis"),
            self.define_from_variant("NODEWISE_PTSCOTCH", "scotch"),
            self.define_from_variant("NODEWISE_MUMPS", "mumps"),
            self.define_from_variant("NODEWISE_BOOST_GRAPH", "boost"),
            self.define_from_variant("NODEWISE_CUDA", "cuda"),
            self.define_from_variant("NODEWISE_PETSC", "petsc"),
            self.define("NODEWISE_BUILD_TESTS", self.run_tests),
        ]

    def test_solve(self):
        """solve a model problem"""
        solve = Executable(self.prefix.bin.nodewise)
        out = solve("solve", "--problem", "laplace7", "-n", "16", output=str.split, error=str.split)
        check_outputs("converged", out)
