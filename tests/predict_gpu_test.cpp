// Predictions of cycles whose vectors lie on GPUs.
#include <algorithm>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/io/gallery.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/gpu_transport.hpp"
#include "nodewise/predict/predict.hpp"

#include "collective_error.hpp"

namespace nodewise::predict {
namespace predict_gpu_test {

using testing::HasSubstr;

Problem small_problem() {
  const auto self = mpi::Comm::create(MPI_COMM_SELF);
  Problem problem = {std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(self, {.problem = "laplace5", .n = 30}))};
  problem.options.max_coarse_rows = 20;
  return problem;
}

Request request_for(const std::string& machine, Memory memory, int ranks, int per_node = 0) {
  PredictOptions options;
  options.machine = machine;
  options.memory = memory;
  VirtualOptions virtual_options;
  virtual_options.virtual_ranks = ranks;
  run::PlacementOptions placement;
  placement.ranks_per_node = per_node;
  return make_request(options, virtual_options, placement);
}

TEST(PredictGpu, ANodeHasARankForEachGpu) {
  EXPECT_EQ(request_for("summit", Memory::device, 24).machine.topology.n_nodes(), 4);
  EXPECT_EQ(request_for("lassen-spectrum", Memory::device, 24).machine.topology.n_nodes(), 6);
  EXPECT_EQ(request_for("summit", Memory::device, 24, 2).machine.topology.n_nodes(), 12);
}

TEST(PredictGpu, IsRefusedWhereTheMachineHasNone) {
  const auto message_of = [](const char* machine, int per_node) {
    const std::optional<Error> error =
        test::error_of([&] { request_for(machine, Memory::device, 24, per_node); });
    EXPECT_TRUE(error && error->code() == ErrorCode::invalid_argument);
    return error ? std::string(error->what()) : "";
  };
  EXPECT_THAT(message_of("eos", 8),
              HasSubstr("'eos' has no `gpu` parameters, which `memory device` needs; of the "
                        "library's machines lassen-mvapich, lassen-spectrum, summit have them"));
  EXPECT_THAT(message_of("summit", 7), HasSubstr("has 6 GPUs, too few for 7 ranks"));
}

// By one core it is the cycle of vectors on the host, and the copies of each exchange.
TEST(PredictGpu, OneCoreAddsCopiesToTheHostsMessages) {
  const Problem problem = small_problem();
  const Result host = predict(problem, request_for("summit", Memory::host, 24, 6));
  const Result result = predict(problem, request_for("summit", Memory::device, 24));
  EXPECT_FALSE(host.gpu);
  ASSERT_TRUE(result.gpu);
  const Prediction& p = result.gpu->plain();
  ASSERT_EQ(p.levels.size(), host.prediction.levels.size());
  ASSERT_GT(p.levels.size(), 1U);
  const model::Machine m = io::shipped_machine("summit");
  for (std::size_t l = 0; l < p.levels.size(); ++l) {
    for (std::size_t route = 0; route < p.routes.size(); ++route) {
      for (const Exchanged what :
           {Exchanged::product, Exchanged::restriction, Exchanged::prolongation}) {
        if (p.levels[l].of(what).empty()) continue;
        const ExchangeTime& there = p.levels[l].of(what)[route];
        const ExchangeTime& here = host.prediction.levels[l].of(what)[route];
        EXPECT_DOUBLE_EQ(there.formula.total(), here.formula.total());
        EXPECT_EQ(there.copies_s, p.levels[l].of(what)[0].copies_s) << "whatever the route";
        EXPECT_GT(there.copies_s, m.gpu->to_host.latency_s + m.gpu->to_device.latency_s);
        for (std::size_t k = 0; k < here.simulated.size(); ++k) {
          EXPECT_DOUBLE_EQ(there.simulated[k], here.simulated[k] + there.copies_s);
        }
      }
    }
  }
  for (const PredictedLevel& level : p.levels) {
    for (const ExchangeTime& gathering : level.gathering) EXPECT_GT(gathering.copies_s, 20e-6);
  }
}

TEST(PredictGpu, TheBestOfEachLevelIsNoWorseThanAnyWayOverAnyRoute) {
  const Result result = predict(small_problem(), request_for("lassen-mvapich", Memory::device, 32));
  ASSERT_TRUE(result.gpu);
  const GpuPrediction& gpu = *result.gpu;
  EXPECT_EQ(gpu.ways.size(), model::GpuTransport::family().size());
  EXPECT_EQ(gpu.copies_win.size(), result.prediction.levels.size());
  for (const std::size_t measure : {by_formula, by_simulation}) {
    const double best = seconds(gpu.cycle(gpu.best(measure)), measure);
    double least = model::unlimited;
    for (const GpuPrediction::Way& way : gpu.ways) {
      const Prediction& p = way.prediction;
      for (std::size_t route = 0; route < p.routes.size(); ++route) {
        EXPECT_LE(seconds(p.cycle(p.best(measure)), measure),
                  seconds(p.cycle(route), measure) * (1 + 1e-12));
      }
      least = std::min(least, seconds(p.cycle(p.best(measure)), measure));
    }
    EXPECT_LE(best, least * (1 + 1e-12));
    EXPECT_GT(best, 0);
  }
}

TEST(PredictGpu, SaysWhatTheMachineDoesNotTell) {
  Request request = request_for("summit", Memory::device, 24);
  request.costs.gpu->shared_copies.clear();
  request.costs.gpu->direct = {};
  const Result result = predict(small_problem(), request);
  EXPECT_EQ(result.gpu->ways.size(), 2U);
  ASSERT_EQ(result.gpu->unanswered.size(), 2U);
  EXPECT_THAT(result.gpu->unanswered[0], HasSubstr("gpu.direct.other_node"));
  for (const GpuPrediction::CopiesWin& win : result.gpu->copies_win) EXPECT_EQ(win.messages, 0);
}

}  // namespace predict_gpu_test
}  // namespace nodewise::predict
