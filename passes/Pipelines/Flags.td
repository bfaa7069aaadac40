//===- Flags.td - options of braidc that are options of passes ---*- tablegen -*-===//

include "passes/FrontEnd/Passes.td"
include "passes/Autodiff/Passes.td"
include "passes/Precision/Passes.td"
include "passes/Strategies/Passes.td"
include "passes/Recompute/Passes.td"
include "passes/Stages/Passes.td"
include "passes/Memory/Passes.td"
include "passes/Collectives/Passes.td"
include "passes/Select/Passes.td"
include "passes/Arena/Passes.td"
include "passes/Overlap/Passes.td"

foreach topic = ["Target", "Optimizer", "Memory", "HostMemory", "Kernel", "Precision", "Rank", "Layout",
                 "Pipeline", "Communication"] in
  def k#topic#Flags : GenericTable {
    let FilterClass = "Flag";
    let FilterClassField = "is"#topic;
    let CppTypeName = "Option";
    let Fields = ["flagName", "flagValue", "description", "flagField"];
  }
