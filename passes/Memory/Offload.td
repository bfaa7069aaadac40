//===- Offload.td - state and activations in the host's memory -*- tablegen -*-===//
#ifndef BRAID_PASSES_MEMORY_OFFLOAD
#define BRAID_PASSES_MEMORY_OFFLOAD

include "mlir/Pass/PassBase.td"

def OffloadStatePass : Pass<"exec-offload-state", "::mlir::ModuleOp"> {
  let summary = "Keeps the state of the optimizer in the host's memory";
  let description = [{
    Moments and masters are read and written once in a step, by the update.  This pass puts them
    into the memory of the device's host (`exec.host` on the argument, in all programs).  A
    `comm.copy` fetches them for the update, another one writes their new values back, and in
    between they take memory of the device, as transient values do.  What is computed stays the
    same, so results have the same bits.

    States are copied in groups, in the order in which they are first used.  A group has at most
    `group-bytes`, unless a single state has more; 0 stands for a sixteenth of all that the program
    offloads, and at most 64 MiB.  It ends where something of forward or backward stands between
    two updates, and where these wait for different collectives.  So of many updates only those of some groups are on the device at a time.

    `comm-overlap` then lets the copies run beside what computes: groups are fetched ahead, and
    written back behind their updates.  Without it the program waits for each.

    A module whose programs have no such state is refused, and so is a target without a memory of
    its own beside the host's.

    Input (`group-bytes=1024`):
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
      func.func @train(%w: tensor<64xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                       %m: tensor<64xf32> {tg.state = #tg.state<"w.momentum", #tg.init<zeros>, of = "w", kind = moment>},
                       %x: tensor<64xf32> {tg.input = "x", tg.role = #tg.role<features>})
          -> (tensor<64xf32> {tg.updates = "w"}, tensor<64xf32> {tg.updates = "w.momentum"}) {
        %w1, %m1 = exec.kernel "sgd"(%w, %m, %x) space [64] : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
        ^bb0(%ka: tensor<64xf32>, %kb: tensor<64xf32>, %kc: tensor<64xf32>):
          %e = tensor.empty() : tensor<64xf32>
          %kd = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
              ins(%kb, %kc : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {exec.dims = array<i64: 0>} {
          ^bb0(%a: f32, %b: f32, %out: f32):
            %s = arith.addf %a, %b : f32
            linalg.yield %s : f32
          } -> tensor<64xf32>
          %kf = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
              ins(%ka, %kd : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {exec.dims = array<i64: 0>} {
          ^bb0(%a: f32, %b: f32, %out: f32):
            %s = arith.subf %a, %b : f32
            linalg.yield %s : f32
          } -> tensor<64xf32>
          exec.yield %kf, %kd : tensor<64xf32>, tensor<64xf32>
        }
        return %w1, %m1 : tensor<64xf32>, tensor<64xf32>
      }
    }
    ```

    Output:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
      func.func @train(%w: tensor<64xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                       %m: tensor<64xf32> {exec.host, tg.state = #tg.state<"w.momentum", #tg.init<zeros>, of = "w", kind = moment>},
                       %x: tensor<64xf32> {tg.input = "x", tg.role = #tg.role<features>})
          -> (tensor<64xf32> {tg.updates = "w"}, tensor<64xf32> {tg.updates = "w.momentum"}) {
        %here = comm.copy %m to device : (tensor<64xf32>) -> tensor<64xf32>
        %w1, %m1 = exec.kernel "sgd"(%w, %here, %x) space [64] : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
        ^bb0(%ka: tensor<64xf32>, %kb: tensor<64xf32>, %kc: tensor<64xf32>):
          %e = tensor.empty() : tensor<64xf32>
          %kd = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
              ins(%kb, %kc : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {exec.dims = array<i64: 0>} {
          ^bb0(%a: f32, %b: f32, %out: f32):
            %s = arith.addf %a, %b : f32
            linalg.yield %s : f32
          } -> tensor<64xf32>
          %kf = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
              ins(%ka, %kd : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {exec.dims = array<i64: 0>} {
          ^bb0(%a: f32, %b: f32, %out: f32):
            %s = arith.subf %a, %b : f32
            linalg.yield %s : f32
          } -> tensor<64xf32>
          exec.yield %kf, %kd : tensor<64xf32>, tensor<64xf32>
        }
        %back = comm.copy %m1 to host : (tensor<64xf32>) -> tensor<64xf32>
        return %w1, %back : tensor<64xf32>, tensor<64xf32>
      }
    }
    ```
  }];
  let options = [
    Option<"groupBytes", "group-bytes", "::braid::Integer<0>", /*default=*/"0",
           "Bytes of the states that are copied together; 0: a sixteenth of all, and at most 64 MiB">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def OffloadActivationsPass : Pass<"exec-offload-activations", "::mlir::ModuleOp"> {
  let summary = "Lets activations wait for backward in the host's memory";
  let description = [{
    What forward makes and backward reads lies in memory in between.  This pass lets some of these
    tensors wait in the memory of the device's host: a `comm.copy` puts one there behind its last
    use in forward, another one fetches it before its first use in backward, and in between its bytes
    on the device are free.  What is computed stays the same, so results have the same bits.

    By default a tensor goes if its copies are hidden (`lib/Schedule/HostTrips`): at the rates of the
    target the copy away must be over when backward begins, and the one back when the tensor is read,
    with one more fetched ahead, even if both take twice as long.  The largest tensors are looked at
    first.  What the optimizer fetches takes its time on the link, so this pass comes behind
    `exec-offload-state`.  A remark says of each tensor whether it goes, and why.  With `all` every
    tensor goes, whatever its copies cost.

    Tensors of less than `min-bytes` stay: a copy of so few bytes takes longer to begin than to move
    them.

    `comm-overlap` then lets the copies run beside what computes.  Without it the program waits for
    each.

    A module that keeps nothing for backward is refused, and so is a target without a memory of its own
    beside the host's.

    Input (`all=true`):
    ```mlir
    module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
      func.func @train(%x: tensor<64x64xf32> {tg.input = "x", tg.role = #tg.role<features>},
                       %w: tensor<64x64xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
          -> (tensor<64x64xf32> {tg.role = #tg.role<loss>}, tensor<64x64xf32> {tg.updates = "w"}) {
        %y = exec.matmul "mk,kn->mn"(%x, %w) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32> loc(fused<#tg.facts<forward>>["y"])
        %l = exec.matmul "mk,kn->mn"(%y, %w) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32> loc(fused<#tg.facts<forward>>["l"])
        %d = exec.matmul "mk,kn->mn"(%l, %w) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32> loc(fused<#tg.facts<backward>>["d"])
        %g = exec.matmul "km,kn->mn"(%y, %d) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32> loc(fused<#tg.facts<backward>>["g"])
        return %l, %g : tensor<64x64xf32>, tensor<64x64xf32>
      }
    }
    ```

    Output:
    ```mlir
    module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
      func.func @train(%x: tensor<64x64xf32> {tg.input = "x", tg.role = #tg.role<features>},
                       %w: tensor<64x64xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
          -> (tensor<64x64xf32> {tg.role = #tg.role<loss>}, tensor<64x64xf32> {tg.updates = "w"}) {
        %y = exec.matmul "mk,kn->mn"(%x, %w) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
        %l = exec.matmul "mk,kn->mn"(%y, %w) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
        %away = comm.copy %y to host : (tensor<64x64xf32>) -> tensor<64x64xf32>
        %d = exec.matmul "mk,kn->mn"(%l, %w) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
        %back = comm.copy %away to device : (tensor<64x64xf32>) -> tensor<64x64xf32>
        %g = exec.matmul "km,kn->mn"(%back, %d) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
        return %l, %g : tensor<64x64xf32>, tensor<64x64xf32>
      }
    }
    ```
    The caller gets `%l`, so it stays.
  }];
  let options = [
    Option<"all", "all", "bool", /*default=*/"false", "Every tensor goes, not only those whose copies are hidden">,
    Option<"minBytes", "min-bytes", "::braid::Integer<-1>", /*default=*/"-1",
           "Bytes below which a tensor stays; -1: what the link moves in its latency, or 0 with all">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

#endif // BRAID_PASSES_MEMORY_OFFLOAD
