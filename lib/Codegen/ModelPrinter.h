//===- ModelPrinter.h - prints the tables of the runtime --------*- C++ -*-===//
#ifndef BRAID_LIB_CODEGEN_MODELPRINTER_H
#define BRAID_LIB_CODEGEN_MODELPRINTER_H

#include "lib/Codegen/Codegen.h"
#include "lib/Codegen/StepPrinter.h"

namespace braid::codegen {

/// Returns the text of model.cpp: persistent tensors, inputs and results of the programs, matmuls and collectives of
/// each kind of ranks, the mesh, the plan, and main.
mlir::FailureOr<std::string> printModel(mlir::ModuleOp module, const StepPrinter &steps, RankTables &ranks,
                                        const PipelineTables &pipeline, llvm::StringRef planJson);

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_MODELPRINTER_H
