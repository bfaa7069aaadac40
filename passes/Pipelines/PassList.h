//===- PassList.h - the passes of a pipeline --------------------*- C++ -*-===//
//
// Adds passes to a pass manager for modules. Nests passes of functions, and leaves out optional passes by name
// (`braidc --without=PASS`). A pass is optional if each program computes the same without it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_PIPELINES_PASSLIST_H
#define BRAID_PASSES_PIPELINES_PASSLIST_H

#include "mlir/Pass/PassManager.h"
#include "passes/Arena/Passes.h"
#include "passes/Autodiff/Passes.h"
#include "passes/Checks/Passes.h"
#include "passes/Collectives/Passes.h"
#include "passes/FrontEnd/Passes.h"
#include "passes/Kernels/Passes.h"
#include "passes/Memory/Passes.h"
#include "passes/Overlap/Passes.h"
#include "passes/Precision/Passes.h"
#include "passes/Primitives/Passes.h"
#include "passes/Recompute/Passes.h"
#include "passes/Sampling/Passes.h"
#include "passes/Select/Passes.h"
#include "passes/Sharding/Passes.h"
#include "passes/Stages/Passes.h"
#include "passes/Strategies/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include <string>
#include <vector>

namespace braid {

/// Options of the passes of a compilation, in the order of the pipeline. Passes.td has their defaults.
struct PassSettings {
  SetTargetPassOptions target;
  SetMachinePassOptions machine;
  ExpertParallelPassOptions experts;
  RepeatHeadsPassOptions heads;
  TensorParallelPassOptions tensor;
  ContextParallelPassOptions context;
  MakeProgramsPassOptions programs;
  AttachHooksPassOptions hooks;
  GradientPrecisionPassOptions gradients;
  ApplyOptimizerPassOptions optimizer;
  StatePrecisionPassOptions moments;
  DataParallelPassOptions dataParallel;
  NoiseScalePassOptions noise;
  ReducePrecisionPassOptions reductions;
  ChunkLossPassOptions loss;
  ChunkContractionsPassOptions chunks;
  SelectAttentionPassOptions attention;
  RecomputePassOptions recompute;
  StagesPassOptions stages;
  GatherUnitsPassOptions units;
  BucketPassOptions buckets;
  CommDecomposePassOptions messages;
  EarlyUpdatesPassOptions updates;
  OrderAttentionPassOptions attentionOrder;
  OffloadStatePassOptions state;
  OffloadActivationsPassOptions activations;
  FillWaitsPassOptions waits;
  OverlapPassOptions overlap;
  PlanMemoryOptions plan;
  ShortenRowLoopsPassOptions rowLoops;
  SplitMatmulsPassOptions matmuls;
  ShareMultiprocessorsPassOptions share;
};

class PassList {
public:
  struct Entry {
    std::string name, summary;
    bool isOptional, runs;
  };

  /// `without` must outlive the list.
  explicit PassList(mlir::OpPassManager &manager, const PassSettings &settings = {},
                    llvm::ArrayRef<std::string> without = {})
      : settings(settings), manager(manager), without(without) {}

  void add(std::unique_ptr<mlir::Pass> pass);
  /// Adds an optional pass if `runs` is set and `without` does not name it.
  void addOptional(std::unique_ptr<mlir::Pass> pass, bool runs = true);

  bool isDisabled(llvm::StringRef name) const { return llvm::is_contained(without, name); }
  /// Returns all passes, with the optional passes that do not run.
  llvm::ArrayRef<Entry> getEntries() const { return entries; }

  /// Options of the passes that are added next.
  PassSettings settings;

private:
  void append(std::unique_ptr<mlir::Pass> pass, bool isOptional, bool runs);

  mlir::OpPassManager &manager;
  llvm::ArrayRef<std::string> without;
  /// Manager of the last passes, if these are passes of functions.
  mlir::OpPassManager *functions = nullptr;
  std::vector<Entry> entries;
};

} // namespace braid

#endif // BRAID_PASSES_PIPELINES_PASSLIST_H
