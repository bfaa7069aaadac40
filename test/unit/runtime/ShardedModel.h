//===- ShardedModel.h - a model on a random mesh, sharded at random -------===//
//
// Tables like those of the compiler, with the one program that saving and loading need, for ranks that are threads.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TEST_SHARDEDMODEL_H
#define BRAID_TEST_SHARDEDMODEL_H

#include "Meshes.h"
#include "base/Error.h"
#include "comm/Communicator.h"
#include "comm/ThreadsTransport.h"
#include "core/Mesh.h"
#include "core/Model.h"

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace braid::test {

struct LogicalTensor {
  const char *name;
  br_category category;
  br_dtype dtype;
  std::vector<int64_t> shape;
};

// The sharding of a model: random, or the same for every tensor.
enum class Sharding { Random, Replicated, Flat };

class ShardedModel {
public:
  ShardedModel(std::mt19937 &random, const std::vector<LogicalTensor> &logical, Sharding sharding = Sharding::Random)
      : mesh(random) {
    fill(random, logical, sharding);
  }
  // A mesh of one axis with this many ranks.
  ShardedModel(int ranks, const std::vector<LogicalTensor> &logical, Sharding sharding) : mesh(ranks) {
    std::mt19937 random(1);
    fill(random, logical, sharding);
  }
  ShardedModel(const ShardedModel &) = delete;

  const br_model &table() const { return model; }
  int size() const { return worldSize(model); }

  // Runs `body` on every rank. Returns each rank's error message, empty without an error.
  std::vector<std::string> run(const std::function<void(Model &)> &body) const {
    std::vector<std::string> errors(size());
    auto hub = std::make_shared<ThreadsHub>(size());
    auto runRank = [&](int rank) {
      try {
        br_comm comm(threadsTransport(hub, rank), 20);
        Rank own;
        own.number = rank, own.size = size(), own.comm = &comm;
        Model loaded(model, 1, own);
        body(loaded);
      } catch (const std::exception &error) {
        errors[rank] = error.what();
      }
    };
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size(); ++rank)
      threads.emplace_back(runRank, rank);
    for (std::thread &thread : threads)
      thread.join();
    return errors;
  }

private:
  void fill(std::mt19937 &random, const std::vector<LogicalTensor> &logical, Sharding sharding) {
    uint64_t at = 0;
    for (const LogicalTensor &t : logical) {
      tensors.push_back(tensorOf(random, t, sharding));
      tensors.back().offset = at;
      at += (tensors.back().bytes + 63) / 64 * 64;
    }
    int32_t all = 0;
    for (size_t i = 0; i < mesh.groups.size(); ++i)
      if (mesh.groups[i].n_axes == static_cast<int32_t>(mesh.axes.size()))
        all = static_cast<int32_t>(i);
    segment = {at, at + 64, 8, 1, 1, 0, 0};
    maximum = {BR_ALL_REDUCE, BR_MAX, BR_I32, all, 0, nullptr, 0, &segment, 1};
    ios[0].name = ios[1].name = ios[0].role = ios[1].role = "values";
    for (br_io &io : ios)
      io.dtype = BR_I32, io.rank = 1, io.shape[0] = 8, io.bytes = 32;
    ios[0].offset = at, ios[1].offset = at + 64;
    program = {"agree", agree, ios, 1, 1, nullptr, 0};

    model.abi_version = BR_ABI_VERSION, model.name = "sharded", model.cpu_features = "", model.plan_json = "{}";
    model.arena_bytes = at + 128, model.accumulate = 1;
    model.tensors = tensors.data(), model.n_tensors = static_cast<int32_t>(tensors.size());
    model.programs = &program, model.n_programs = 1;
    mesh.addTo(model);
    model.collectives = &maximum, model.n_collectives = 1;
  }

  br_tensor tensorOf(std::mt19937 &random, const LogicalTensor &logical, Sharding sharding) const {
    br_tensor t{};
    t.name = logical.name, t.category = logical.category, t.dtype = logical.dtype, t.checkpoint = 1;
    t.rank = static_cast<int32_t>(logical.shape.size());
    std::copy(logical.shape.begin(), logical.shape.end(), t.shape);
    if (sharding == Sharding::Random)
      mesh.shard(t, random);
    if (sharding == Sharding::Flat)
      t.flat = mesh.groupOf({0});
    mesh.lay(t, random, sharding == Sharding::Random);
    return t;
  }

  static br_status agree(br_context *ctx) { return br_start(ctx, 0) == BR_OK ? br_wait(ctx, 0) : BR_ERROR; }

  RandomMesh mesh;
  std::vector<br_tensor> tensors;
  br_segment_desc segment{};
  br_collective_desc maximum{};
  br_io ios[2] = {};
  br_program program{};
  br_model model{};
};

} // namespace braid::test
#endif // BRAID_TEST_SHARDEDMODEL_H
