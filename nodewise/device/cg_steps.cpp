#include "nodewise/device/cg_steps.hpp"

#include <cmath>

#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

struct Square {
  const double* r;
  NODEWISE_KERNEL Terms<1> operator()(std::int64_t i) const { return {{r[i] * r[i]}}; }
};

struct Dot {
  const double* p;
  const double* q;
  NODEWISE_KERNEL Terms<1> operator()(std::int64_t i) const { return {{p[i] * q[i]}}; }
};

struct FindAlpha {
  CgNumbers* numbers;
  NODEWISE_KERNEL void operator()(std::int64_t) const {
    const double alpha = numbers->rz_before / numbers->pq.v[0];
    numbers->alpha =
        numbers->pq.v[0] > 0 && numbers->rz_before > 0 && std::isfinite(alpha) ? alpha : 0.0;
  }
};

struct Advance {
  const CgNumbers* numbers;
  const double* p;
  const double* q;
  double* x;
  double* r;
  NODEWISE_KERNEL Terms<1> operator()(std::int64_t i) const {
    const double alpha = numbers->alpha;
    x[i] += alpha * p[i];
    const double left = r[i] - alpha * q[i];
    r[i] = left;
    return {{left * left}};
  }
};

/// 2^-e where the norm of r is in [2^e, 2^(e+1)), so that no entry of r is above 2 then; 1 where
/// there is none.
struct FindFactors {
  CgNumbers* numbers;
  double matrix_scale;
  NODEWISE_KERNEL void operator()(std::int64_t) const {
    const double norm = std::sqrt(numbers->rr.v[0]);
    double in = 1.0;
    if (norm > 0 && std::isfinite(norm)) {
      int e = std::ilogb(norm);
      e = e < -1000 ? -1000 : (e > 1000 ? 1000 : e);
      in = std::ldexp(1.0, -e);
    }
    numbers->in = in;
    numbers->out = matrix_scale / in;
  }
};

template <class T>
struct Round {
  const CgNumbers* numbers;
  const double* r;
  T* b;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    b[i] = static_cast<T>(numbers->in * r[i]);
  }
};

template <class T>
struct Extend {
  const CgNumbers* numbers;
  const T* x;
  const double* r;
  const double* q;
  double* z;
  NODEWISE_KERNEL Terms<2> operator()(std::int64_t i) const {
    const double value = numbers->out * static_cast<double>(load(x + i));
    z[i] = value;
    return {{r[i] * value, q[i] * value}};
  }
};

struct FindBeta {
  CgNumbers* numbers;
  bool flexible;
  NODEWISE_KERNEL void operator()(std::int64_t) const {
    const double before = numbers->rz_before;
    const double above = flexible ? -numbers->alpha * numbers->rz_qz.v[1] : numbers->rz_qz.v[0];
    numbers->beta = before != 0 ? above / before : 0.0;
    numbers->rz_before = numbers->rz_qz.v[0];
  }
};

struct Turn {
  const CgNumbers* numbers;
  const double* z;
  double* p;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const double beta = numbers->beta;
    p[i] = beta != 0 ? z[i] + beta * p[i] : z[i];
  }
};

struct Forget {
  CgNumbers* numbers;
  NODEWISE_KERNEL void operator()(std::int64_t) const { numbers->rz_before = 0; }
};

}  // namespace

template <class Space>
CgSteps<Space>::CgSteps(Queue<Space>& queue, std::int64_t n) : queue_(queue), n_(n), numbers_(1) {
  queue_.clear(numbers_.data(), numbers_.bytes());
}

template <class Space>
void CgSteps<Space>::forget_direction() {
  launch(queue_, 1, Forget{numbers_.data()});
}

template <class Space>
void CgSteps<Space>::square(const double* r) {
  one_.add_up(queue_, n_, Square{r}, &numbers_.data()->rr);
}

template <class Space>
void CgSteps<Space>::dot(const double* p, const double* q) {
  one_.add_up(queue_, n_, Dot{p, q}, &numbers_.data()->pq);
}

template <class Space>
void CgSteps<Space>::advance(const double* p, const double* q, double* x, double* r) {
  launch(queue_, 1, FindAlpha{numbers_.data()});
  one_.add_up(queue_, n_, Advance{numbers_.data(), p, q, x, r}, &numbers_.data()->rr);
}

template <class Space>
template <class T>
void CgSteps<Space>::round(double matrix_scale, const double* r, T* b) {
  launch(queue_, 1, FindFactors{numbers_.data(), matrix_scale});
  launch(queue_, n_, Round<T>{numbers_.data(), r, b});
}

template <class Space>
template <class T>
void CgSteps<Space>::extend(const T* x, const double* r, const double* q, double* z) {
  two_.add_up(queue_, n_, Extend<T>{numbers_.data(), x, r, q, z}, &numbers_.data()->rz_qz);
}

template <class Space>
void CgSteps<Space>::turn(bool flexible, const double* z, double* p) {
  launch(queue_, 1, FindBeta{numbers_.data(), flexible});
  launch(queue_, n_, Turn{numbers_.data(), z, p});
}

template class CgSteps<Compiled>;
template void CgSteps<Compiled>::round(double, const double*, float*);
template void CgSteps<Compiled>::round(double, const double*, double*);
template void CgSteps<Compiled>::extend(const float*, const double*, const double*, double*);
template void CgSteps<Compiled>::extend(const double*, const double*, const double*, double*);

}  // namespace nodewise::device
