//===- PassSettings.h - options of passes -----------------------*- C++ -*-===//
#ifndef BRAID_PASSES_PIPELINES_PASSSETTINGS_H
#define BRAID_PASSES_PIPELINES_PASSSETTINGS_H

#include "passes/Collectives/Passes.h"
#include "passes/Graph/Passes.h"
#include "passes/Lower/Passes.h"
#include "passes/Memory/Passes.h"
#include "passes/Overlap/Passes.h"
#include "passes/Recompute/Passes.h"
#include "passes/Sharding/Passes.h"
#include "passes/Stages/Passes.h"
#include "passes/Strategies/Passes.h"

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

} // namespace braid

#endif // BRAID_PASSES_PIPELINES_PASSSETTINGS_H
