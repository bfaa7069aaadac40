//===- Offload.td - state and activations in the host's memory -*- tablegen -*-===//
#ifndef BRAID_PASSES_MEMORY_OFFLOAD
#define BRAID_PASSES_MEMORY_OFFLOAD

include "passes/Base/Flag.td"

def OffloadStatePass : Pass<"exec-offload-state", "::mlir::ModuleOp"> {
  let summary = "Keeps the state of the optimizer in the host's memory";
  let description = [{
    Moments and masters are read and written once in a step, by the update. This pass puts them into the memory of
    the device's host (`exec.host` on the argument, in all programs). A `comm.copy` fetches them for the update,
    another one writes their new values back, and in between they occupy device memory, as transient values do. The
    computation stays the same, so results have the same bits.

    States are copied in groups, in the order in which they are first used. A group has at most `group-bytes`,
    unless a single state has more; 0 stands for a sixteenth of all that the program offloads, and at most 64 MiB. A
    group ends where an op of forward or backward stands between two updates, and where these wait for different
    collectives. So the device holds the states of only a few groups at a time.

    `comm-overlap` then runs the copies beside computation: groups are fetched ahead, and written back behind their
    updates. Without it the program waits for each copy.

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
           "Largest group of states in bytes; 0: a sixteenth of all states, and at most 64 MiB">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

def OffloadActivationsPass : Pass<"exec-offload-activations", "::mlir::ModuleOp"> {
  let summary = "Offloads activations to the host's memory until backward";
  let description = [{
    Tensors that backward reads from forward occupy memory in between. This pass moves some of these tensors to the
    memory of the device's host. A `comm.copy` moves the tensor there behind its last use in forward, another one
    fetches it before its first use in backward, and in between its bytes on the device are free. The computation
    stays the same, so results have the same bits.

    By default a tensor is offloaded if its copies are hidden (`lib/Schedule/HostTrips`), at the rates of the
    target. The copy to the host must end before backward begins, and the copy back before the tensor is read, with
    one more tensor fetched ahead, even if both copies take twice as long. The pass tries the largest tensors first.
    Copies of `exec-offload-state` occupy the link, too, so this pass runs behind it. A remark for each tensor says
    whether it is offloaded, and why. With `all` every tensor is offloaded, whatever its copies cost.

    Tensors of fewer than `min-bytes` bytes stay, because the latency of their copy exceeds its transfer time.

    `comm-overlap` then runs the copies beside computation. Without it the program waits for each copy.

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
    `%l` stays, because the program returns it.
  }];
  let options = [
    Flag<"HostMemory", "--offload-activations", "activations", "all", "all", "bool", /*default=*/"false",
         "Activations that --offload=activations copies to the host",
         [{choice({{"hidden", "activations whose copies are predicted to end before backward reads them"},
                   {"all", "all activations kept for backward, whatever the copies cost"}})}], "",
         [{, needs("--offload")}]>,
    Option<"minBytes", "min-bytes", "::braid::Integer<-1>", /*default=*/"-1",
           "Smallest offloaded tensor in bytes; -1: as many bytes as the link moves during its latency, or 0 if `all` "
           "is set">,
  ];
  let dependentDialects = ["::braid::comm::CommDialect"];
}

#endif // BRAID_PASSES_MEMORY_OFFLOAD
