//===- Flag.td - options of passes and of braidc ----------------*- tablegen -*-===//
//
// A Flag is an option of a pass and an option of braidc. `settings` is the field of PassSettings with the options of
// the pass. `value` states the valid values on the command line (cli/Value.h); without it they follow from the type.
// `fallback` describes the default where the option's default does not show it. `rules` are further arguments of
// cli::Option, each after a comma. tools/braidc/CommandTable.cpp includes the rows, one table a topic.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_BASE_FLAG
#define BRAID_PASSES_BASE_FLAG

include "llvm/TableGen/SearchableTable.td"
include "mlir/Pass/PassBase.td"

class Flag<string topic, string flag, string settings, string variable, string argument, string type, string default,
           string help, code value = "", string fallback = "", code rules = "">
    : Option<variable, argument, type, default, help> {
  string flagName = flag;
  code flagValue = !if(!empty(value), [{valueOf<}] # type # [{>()}], value);
  string flagFallback = fallback;
  code flagField = [{inPass<&PassSettings::}] # settings # [{, &decltype(PassSettings::}] # settings # [{)::}] #
                   variable # [{>()}] # !if(!empty(fallback), "", [{, byDefault("}] # fallback # [{")}]) # rules;

  bit isOptimizer = !eq(topic, "Optimizer");
  bit isTarget = !eq(topic, "Target");
  bit isMemory = !eq(topic, "Memory");
  bit isHostMemory = !eq(topic, "HostMemory");
  bit isKernel = !eq(topic, "Kernel");
  bit isPrecision = !eq(topic, "Precision");
  bit isRank = !eq(topic, "Rank");
  bit isLayout = !eq(topic, "Layout");
  bit isPipeline = !eq(topic, "Pipeline");
  bit isCommunication = !eq(topic, "Communication");
}

#endif // BRAID_PASSES_BASE_FLAG
