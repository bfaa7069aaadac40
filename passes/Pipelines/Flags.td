//===- Flags.td - options of braidc that are options of passes ---*- tablegen -*-===//

include "passes/Graph/Passes.td"
include "passes/Strategies/Passes.td"
include "passes/Recompute/Passes.td"
include "passes/Stages/Passes.td"
include "passes/Memory/Passes.td"
include "passes/Collectives/Passes.td"
include "passes/Lower/Passes.td"
include "passes/Overlap/Passes.td"

foreach topic = ["Target", "Optimizer", "Memory", "HostMemory", "Kernel", "Precision", "Rank", "Layout",
                 "Pipeline", "Communication"] in
  def k#topic#Flags : GenericTable {
    let FilterClass = "Flag";
    let FilterClassField = "is"#topic;
    let CppTypeName = "Option";
    let Fields = ["flagName", "flagValue", "description", "flagField"];
  }
