// The numbers of PETSc's vectors and dense matrices on this rank, for as long as an object is.
#pragma once

#include <cstddef>
#include <petscvec.h>
#include <span>

#include "petsc/errors.hpp"

namespace nodewise::petsc {

class ReadVec {
 public:
  explicit ReadVec(Vec v) : v_(v) {
    check(VecGetLocalSize(v_, &n_));
    check(VecGetArrayRead(v_, &values_));
  }
  ~ReadVec() { VecRestoreArrayRead(v_, &values_); }
  ReadVec(const ReadVec&) = delete;
  ReadVec& operator=(const ReadVec&) = delete;
  std::span<const double> span() const { return {values_, static_cast<std::size_t>(n_)}; }

 private:
  Vec v_;
  PetscInt n_ = 0;
  const PetscScalar* values_ = nullptr;
};

class WrittenVec {
 public:
  explicit WrittenVec(Vec v) : v_(v) {
    check(VecGetLocalSize(v_, &n_));
    check(VecGetArrayWrite(v_, &values_));
  }
  ~WrittenVec() { VecRestoreArrayWrite(v_, &values_); }
  WrittenVec(const WrittenVec&) = delete;
  WrittenVec& operator=(const WrittenVec&) = delete;
  std::span<double> span() const { return {values_, static_cast<std::size_t>(n_)}; }

 private:
  Vec v_;
  PetscInt n_ = 0;
  PetscScalar* values_ = nullptr;
};

}  // namespace nodewise::petsc
