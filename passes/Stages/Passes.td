//===- Passes.td - the stages of a pipeline ---*- tablegen -*-===//
//
// Runs on the rank's program in primitives, behind recomputation and before collectives are merged. Replays are
// then ordinary ops of backward.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_STAGES
#define BRAID_PASSES_STAGES

include "passes/Base/Flag.td"

def StagesPass : Pass<"comm-stages", "::mlir::ModuleOp"> {
  let summary = "Splits programs into the stages of a pipeline";
  let description = [{
    The ranks along `axis` get the functions of their stages. A stage is a range of units. `stages` lists them
    (`embed+h.0-5|h.6-11+head`); by default stages are balanced. Balancing first minimizes the predicted time of the
    slowest stage, and second the memory of the stage that holds most. With `memory-limit`, keeping the predicted
    memory of each rank within the limit comes before both. `schedule` is the name of a schedule or a CSV file
    ([Pipelines.md](Pipelines.md)), for `microbatches`, with `chunks` stages on each rank (0: the number that the
    schedule needs).

    * `@accumulate` becomes a function for each stage and each action in the table's cells. `comm.cell` names the
      action: `F`, `B`, or `I` and `W`. `I` is the part of backward that the stage before waits for, and `W` the
      rest. An op is in the stage of its unit; an op without a unit is in the stage of its operands. Values that
      depend on inputs alone, or on weights alone, such as masks and gathered parameters, are computed by each
      function that reads them.
    * A value that backward of a stage reads from its forward is a state of the kind `saved`. A value that stages
      send each other is a state of the kind `message`. Both lie in `exec.slots`, as many as the table needs. A
      value that several stages read is sent from stage to stage. A value that forward of a later stage can compute
      from values of an earlier one, such as a mask, is computed again there. Each message has a function that sends
      and one that receives.
    * A parameter that several stages read is held by all of their ranks, and each accumulates its own part of the
      gradient. `@train` adds these parts. Each of its ops runs on the ranks that hold the op's tensors. Sums over
      tensors of several ranks, such as the norm of all gradients, are reduced over ranks, and each tensor counts
      once. Single numbers are broadcast.
    * A state of the model that microbatches update, such as a running mean, may be read only by the cell that
      updates it, because other cells would read the value of another microbatch. A program with other readers is
      refused.
    * `@eval`, `@generate` and `@decode` go through the stages once.
    * `comm.pipeline` holds the table.

    Input (`schedule=gpipe microbatches=2`):
    ```mlir
    comm.mesh @mesh [pp = 2]
    func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                          %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                          %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                          %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>},
                          %sv: tensor<4xf32> {tg.state = #tg.state<"acc.v", #tg.init<zeros>, of = "v", kind = accumulator>},
                          %sw: tensor<4xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w", kind = accumulator>})
        -> (tensor<f32> {tg.updates = "acc.loss"}, tensor<4xf32> {tg.updates = "acc.v"}, tensor<4xf32> {tg.updates = "acc.w"})
        attributes {comm.program = #comm.program<@mesh>} {
      %a = arith.mulf %x, %v : tensor<4xf32>
      %b = arith.mulf %a, %w : tensor<4xf32>
      %b2 = arith.mulf %b, %b : tensor<4xf32>
      %l = tg.reduce sum %b2 dims [0] : tensor<4xf32> -> tensor<f32>
      %nl = arith.addf %sum, %l : tensor<f32>
      %db = arith.addf %b, %b : tensor<4xf32>
      %da = arith.mulf %db, %w : tensor<4xf32>
      %dw = arith.mulf %db, %a : tensor<4xf32>
      %nw = arith.addf %sw, %dw : tensor<4xf32>
      %dv = arith.mulf %da, %x : tensor<4xf32>
      %nv = arith.addf %sv, %dv : tensor<4xf32>
      return %nl, %nv, %nw : tensor<f32>, tensor<4xf32>, tensor<4xf32>
    }
    ```
    Output:
    ```mlir
    comm.mesh @mesh [pp = 2]
    comm.pipeline over @mesh "pp" "0F0,0F1,,,0B0,0B1\0A,1F0,1F1,1B0,1B1\0A" {stage_units = ["embed, a", "b, head"], tensor_order = ["v", "w", "acc.loss", "acc.v", "acc.w"]}
    exec.slots @stage0_activation_out 2
    exec.slots @stage0_gradient_in 2
    exec.slots @stage1_activation_in 2
    exec.slots @stage1_saved 2
    exec.slots @stage1_gradient_out 2
    func.func @forward_0(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                         %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                         %out: tensor<4xf32> {exec.slots = @stage0_activation_out, tg.state = #tg.state<"stage0_activation_out.0", #tg.init<zeros>, kind = message>})
        -> (tensor<4xf32> {tg.updates = "stage0_activation_out.0"})
        attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
      %0 = arith.mulf %x, %v : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @backward_0(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                          %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                          %sv: tensor<4xf32> {tg.state = #tg.state<"acc.v", #tg.init<zeros>, of = "v", kind = accumulator>},
                          %din: tensor<4xf32> {exec.slots = @stage0_gradient_in, tg.state = #tg.state<"stage0_gradient_in.0", #tg.init<zeros>, kind = message>})
        -> (tensor<4xf32> {tg.updates = "acc.v"})
        attributes {comm.cell = #comm.cell<backward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
      %0 = arith.mulf %din, %x : tensor<4xf32>
      %1 = arith.addf %sv, %0 : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    func.func @send_activation_0(%out: tensor<4xf32> {exec.slots = @stage0_activation_out, tg.state = #tg.state<"stage0_activation_out.0", #tg.init<zeros>, kind = message>})
        attributes {comm.cell = #comm.cell<send_activation, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
      comm.send %out to 1 over @mesh {pp} {comm.moved = [7]} : (tensor<4xf32>) -> ()
      return
    }
    func.func @receive_activation_1(%in: tensor<4xf32> {exec.slots = @stage1_activation_in, tg.state = #tg.state<"stage1_activation_in.0", #tg.init<zeros>, kind = message>})
        -> (tensor<4xf32> {tg.updates = "stage1_activation_in.0"})
        attributes {comm.cell = #comm.cell<receive_activation, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
      %0 = comm.recv from 0 over @mesh {pp} {comm.moved = [7]} : () -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @forward_1(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                         %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                         %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>},
                         %in: tensor<4xf32> {exec.slots = @stage1_activation_in, tg.state = #tg.state<"stage1_activation_in.0", #tg.init<zeros>, kind = message>},
                         %saved: tensor<4xf32> {exec.slots = @stage1_saved, tg.state = #tg.state<"stage1_saved.0", #tg.init<zeros>, kind = saved>})
        -> (tensor<f32> {tg.updates = "acc.loss"}, tensor<4xf32> {tg.updates = "stage1_saved.0"})
        attributes {comm.cell = #comm.cell<forward, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
      %0 = arith.mulf %in, %w : tensor<4xf32>
      %1 = arith.mulf %0, %0 : tensor<4xf32>
      %2 = tg.reduce sum %1 dims [0] : tensor<4xf32> -> tensor<f32>
      %3 = arith.addf %sum, %2 : tensor<f32>
      return %3, %0 : tensor<f32>, tensor<4xf32>
    }
    func.func @backward_1(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                          %sw: tensor<4xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w", kind = accumulator>},
                          %in: tensor<4xf32> {exec.slots = @stage1_activation_in, tg.state = #tg.state<"stage1_activation_in.0", #tg.init<zeros>, kind = message>},
                          %saved: tensor<4xf32> {exec.slots = @stage1_saved, tg.state = #tg.state<"stage1_saved.0", #tg.init<zeros>, kind = saved>},
                          %dout: tensor<4xf32> {exec.slots = @stage1_gradient_out, tg.state = #tg.state<"stage1_gradient_out.0", #tg.init<zeros>, kind = message>})
        -> (tensor<4xf32> {tg.updates = "acc.w"}, tensor<4xf32> {tg.updates = "stage1_gradient_out.0"})
        attributes {comm.cell = #comm.cell<backward, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
      %0 = arith.addf %saved, %saved : tensor<4xf32>
      %1 = arith.mulf %0, %w : tensor<4xf32>
      %2 = arith.mulf %0, %in : tensor<4xf32>
      %3 = arith.addf %sw, %2 : tensor<4xf32>
      return %3, %1 : tensor<4xf32>, tensor<4xf32>
    }
    func.func @send_gradient_1(%dout: tensor<4xf32> {exec.slots = @stage1_gradient_out, tg.state = #tg.state<"stage1_gradient_out.0", #tg.init<zeros>, kind = message>})
        attributes {comm.cell = #comm.cell<send_gradient, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
      comm.send %dout to 0 over @mesh {pp} {comm.moved = [13]} : (tensor<4xf32>) -> ()
      return
    }
    func.func @receive_gradient_0(%din: tensor<4xf32> {exec.slots = @stage0_gradient_in, tg.state = #tg.state<"stage0_gradient_in.0", #tg.init<zeros>, kind = message>})
        -> (tensor<4xf32> {tg.updates = "stage0_gradient_in.0"})
        attributes {comm.cell = #comm.cell<receive_gradient, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
      %0 = comm.recv from 1 over @mesh {pp} {comm.moved = [13]} : () -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"axis", "axis", "std::string", "\"pp\"", "Mesh axis of the pipeline stages">,
    Flag<"Pipeline", "--schedule", "stages", "schedule", "schedule", "std::string", "\"1f1b\"",
         "With pp in --mesh: pipeline schedule: gpipe, 1f1b, interleaved, zb-h1, zb-v, or a table in the format of "
         "braid-schedule", [{text("NAME|FILE.csv")}]>,
    Flag<"Pipeline", "--chunks", "stages", "chunks", "chunks", "Integer<0>", "0", "Stages on each rank",
         [{integer("V", 1, 1024)}], "the number that the schedule needs">,
    Option<"microbatches", "microbatches", "Integer<1>", "1", "Microbatches in a step">,
    Flag<"Pipeline", "--stages", "stages", "stages", "stages", "std::string", "\"\"",
         "Units of each stage, as in --stages='embed+h.0-5|h.6-11+head'", [{text("UNITS|UNITS")}],
         "balanced by predicted time, within the memory limit">,
    Option<"memoryLimit", "memory-limit", "std::string", "\"\"",
           "Memory limit of a rank when stages are balanced, such as 40GiB; empty for no limit">];
  let dependentDialects = ["::braid::tg::TGDialect", "::braid::comm::CommDialect", "::braid::exec::ExecDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // BRAID_PASSES_STAGES
