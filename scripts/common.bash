# What quickstart, test and the CI run share: finding and installing packages, building, MPI.
# Sourced by bash scripts that have set -euo pipefail; defines functions and `root`.
# shellcheck shell=bash disable=SC2034  # the lists are used by those that source this

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

build_packages=(g++ make cmake ninja-build pkg-config git libopenmpi-dev openmpi-bin libfmt-dev
  libcli11-dev nlohmann-json3-dev libeigen3-dev zlib1g-dev)
test_packages=(libgtest-dev libgmock-dev python3 python3-pytest python3-pytest-xdist
  python3-jsonschema python3-numpy python3-scipy)
ci_packages=(ccache mpich libmpich-dev clang clang-format clang-tidy shellcheck libhypre-dev)
# Used where the distribution has them, done without elsewhere.
optional_packages=(libboost-dev libfast-float-dev libhwloc-dev libmetis-dev libptscotch-dev libmumps-dev python3-venv)
optional_ci_packages=(libclang-rt-dev libsimgrid-dev chromium fonts-dejavu-core libpetsc-real-dev python3-petsc4py-real)

say() { printf '%s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
available() { apt-cache show --no-all-versions "$1" >/dev/null 2>&1; }

# Prints those of the packages named that are not installed.
missing_of() {
  local package
  for package in "$@"; do
    installed "$package" || printf '%s\n' "$package"
  done
}

# Sets `privilege` to the prefix that runs a command as root; fails where there is no way to be root.
find_privilege() {
  if [[ $(id -u) == 0 ]]; then
    privilege=(env)
  elif command -v sudo >/dev/null; then
    privilege=(sudo env)
  else
    fail "these packages are missing: $*. Ask somebody who may install them (this user is not root and there is no sudo): apt-get install $*"
  fi
}

run_apt() { "${privilege[@]}" DEBIAN_FRONTEND=noninteractive apt-get -q "$@"; }

# ensure_packages [package...] [-- optional package...]: installs those that are missing, and says
# so first. Without anything missing, apt is not called and no network is needed.
ensure_packages() {
  local required=() optional=() missing wanted package
  while (($#)) && [[ $1 != -- ]]; do
    required+=("$1")
    shift
  done
  optional=("${@:2}")
  mapfile -t missing < <(missing_of "${required[@]}")
  # Optional packages alone are no reason to ask the network again at every run.
  if ((${#missing[@]} == 0)); then
    say "All packages that are needed are installed."
    return
  fi
  mapfile -t wanted < <(missing_of "${optional[@]}")
  say "These packages are missing and will now be installed with apt-get, with what they depend on:"
  say "  ${missing[*]} ${wanted[*]}"
  if [[ ${NODEWISE_DRY_RUN:-} ]]; then
    say "(dry run: nothing is installed)"
    return
  fi
  find_privilege "${missing[@]}"
  run_apt update || say "warning: the package lists could not be refreshed; trying with the old ones"
  for package in "${missing[@]}"; do
    available "$package" ||
      fail "this system offers no package '$package' (is the network up, is this Debian 12 or Ubuntu 22.04 or later?)"
  done
  for package in "${wanted[@]}"; do
    if available "$package"; then
      missing+=("$package")
    else
      say "This system has no package $package; going on without it."
    fi
  done
  run_apt install -y --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install the packages; its message is above"
}

check_system() {
  type -P apt-get dpkg-query >/dev/null ||
    fail "this script installs packages with apt-get, which this system does not have; CONTRIBUTING.md lists what to install and how to build by hand"
}

# configure <build folder> [cmake argument...]: Release unless told otherwise; ccache where present, which
# knows the files of another clone of the project too.
configure() {
  local build=$1 arguments=()
  shift
  if command -v ccache >/dev/null; then
    arguments+=("-DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_BASEDIR=$root;CCACHE_NOHASHDIR=1;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache")
  fi
  # The system's Python is the one that apt-get installs modules for.
  if [[ -x /usr/bin/python3 ]]; then
    arguments+=(-DPython3_EXECUTABLE=/usr/bin/python3)
  fi
  # A build without tests has no use for the Python.
  cmake -S "$root" -B "$build" --no-warn-unused-cli -G Ninja -DCMAKE_BUILD_TYPE=Release "${arguments[@]}" "$@"
}

# One compiler for each core, but no more than one for each 1.5 GiB of free memory.
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1572864) }' /proc/meminfo)
  ((memory >= 1)) || memory=1
  echo $((cores < memory ? cores : memory))
}

build() { cmake --build "$1" -j "$(jobs)" "${@:2}"; }

# Makes a Python environment with PyAMG, which is compared with and used for nothing else; says so
# where that cannot be had.
ensure_pyamg() {
  local folder=$1
  if "$folder/bin/python" -c 'import pyamg' 2>/dev/null; then return; fi
  say "Getting PyAMG to compare with, into $folder ..."
  if ! { python3 -m venv "$folder" &&
    "$folder/bin/pip" install -q --disable-pip-version-check pyamg==5.4.1; }; then
    rm -rf "$folder"
    say "NOTE: PyAMG cannot be installed (is the network up?): nothing will be compared with it."
  fi
}

# Makes a Python environment with what draws pages and looks at them; says so where that cannot be had.
ensure_pages_python() {
  local folder=$1
  if "$folder/bin/python" -c 'import jinja2, jsonschema, playwright, pytest, vl_convert, xdist' 2>/dev/null; then return; fi
  say "Getting what makes pages and looks at them, into $folder ..."
  if ! { python3 -m venv "$folder" &&
    "$folder/bin/pip" install -q --disable-pip-version-check jinja2==3.1.6 vl-convert-python==1.9.0.post1 \
      playwright==1.65.2 pytest==9.2.0 pytest-xdist==3.8.0 jsonschema==4.26.0; }; then
    rm -rf "$folder"
    say "NOTE: what makes pages cannot be installed (is the network up?): pages will not be tested."
  fi
}

# Sets `idle_library` to a library that makes waiting MPICH ranks yield their core, built from the
# cluster tools where they lie beside the checkout; to nothing, loudly, where they do not.
build_idle_library() {
  local folder=$1 source=$root/../shared/tools/cluster/idle.c
  idle_library=
  if [[ -f $source ]]; then
    mkdir -p "$folder"
    cc -O2 -shared -fPIC -o "$folder/libidle.so" "$source" -ldl
    idle_library=$folder/libidle.so
  else
    say "NOTE: no ../shared/tools/cluster/idle.c: MPICH ranks that wait will keep their cores, so only up to $(nproc) ranks are tested with MPICH."
  fi
}

# mpi_run <ranks> command...: more ranks than cores are fine, and so is root.
mpi_run() {
  local ranks=$1
  shift
  mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to none \
    --mca mpi_yield_when_idle 1 --mca btl_vader_single_copy_mechanism none -n "$ranks" "$@"
}
