// hypot() as the C library had it before 2.35, so that wheels run where that is older (2.34: Red
// Hat Enterprise Linux 9). The linker sends all calls here. What changed in 2.35 is errno alone,
// which nothing here reads.
#include <cstdlib>  // __GLIBC__

#if defined(__GLIBC__) && defined(__x86_64__)

extern "C" {
double nodewise_older_hypot(double x, double y);
__asm__(".symver nodewise_older_hypot, hypot@GLIBC_2.2.5");

double __wrap_hypot(double x, double y);
double __wrap_hypot(double x, double y) {
  return nodewise_older_hypot(x, y);
}
}

#endif
