#include "peer.hpp"
#include "peer_hypre.hpp"

namespace nodewise::bench {

namespace {

class Hypre final : public Peer {
 public:
  Hypre(const System& system, const amg::Options& options, int nodal)
      : system_(*system.A, system.b), options_(options), nodal_(nodal) {}

  void setup() override { system_.setup(options_, nodal_); }
  int solve(double tolerance, int max_iterations) override {
    return system_.solve(tolerance, max_iterations);
  }
  void solution(std::span<double> x) override { system_.solution(x); }
  void clear() override { system_.clear(); }
  double operator_complexity() const override { return system_.hierarchy().operator_complexity; }
  std::vector<PeerLevel> levels() const override { return system_.hierarchy().by_level; }

 private:
  HypreSystem system_;
  amg::Options options_;
  int nodal_;
};

}  // namespace

std::unique_ptr<Peer> make_hypre(const System& system, const amg::Options& options, int nodal) {
  return std::make_unique<Hypre>(system, options, nodal);
}

std::shared_ptr<void> start_hypre() {
  return std::make_shared<HypreLibrary>();
}

}  // namespace nodewise::bench
