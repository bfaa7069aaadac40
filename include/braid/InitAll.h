//===- InitAll.h - register what Braid brings -------------------*- C++ -*-===//
//
// What a program that embeds Braid needs before it parses a graph or a pipeline:
// the dialects of every level with the interfaces of upstream ops, and every
// pass and pipeline.  Link BraidTG, BraidComm and BraidExec for the first, BraidPasses for
// the second.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_INITALL_H
#define BRAID_INITALL_H

#include "dialects/Comm/Comm.h"
#include "dialects/Exec/Exec.h"
#include "dialects/TG/TG.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Pipelines/Pipelines.h"

namespace braid {

/// Every dialect that a module may hold on its way from graph to memory.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<tg::TGDialect, comm::CommDialect, exec::ExecDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
              mlir::math::MathDialect, mlir::linalg::LinalgDialect, mlir::tensor::TensorDialect>();
  registerUpstreamModels(registry);
}

/// Braid's passes and pipelines, and the passes of upstream that they use.
inline void registerAllPasses() {
  registerFrontEndPasses();
  registerAutodiffPasses();
  registerPrecisionPasses();
  registerSamplingPasses();
  registerPrimitivesPasses();
  registerStrategiesPasses();
  registerShardingPasses();
  registerRecomputePasses();
  registerStagesPasses();
  registerMemoryPasses();
  registerCollectivesPasses();
  registerSelectPasses();
  registerKernelsPasses();
  registerArenaPasses();
  registerChecksPasses();
  registerOverlapPasses();
  registerPipelines();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerSymbolDCEPass();
}

} // namespace braid

#endif // BRAID_INITALL_H
