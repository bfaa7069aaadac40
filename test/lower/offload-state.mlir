// State of the optimizer is fetched before its first use and written back behind the last.
// RUN: braid-opt %s --tg-derive-facts --exec-select-calls --exec-form-kernels --exec-offload-state=group-bytes=2048 --exec-verify-values --tg-verify-facts --split-input-file | FileCheck %s
// RUN: braid-interp %s --compare --reference-pipeline="tg-derive-facts,exec-select-calls,exec-form-kernels" --pipeline="tg-derive-facts,exec-select-calls,exec-form-kernels,exec-offload-state{group-bytes=2048}" --rtol=0 --seeds=2
// RUN: braid-interp %s --compare --reference-pipeline="tg-derive-facts,exec-select-calls,exec-form-kernels" --pipeline="tg-derive-facts,exec-select-calls,exec-form-kernels,exec-offload-state{group-bytes=2048},comm-overlap" --rtol=0 --seeds=2
// RUN: braid-interp %s --compare --reference-pipeline="tg-derive-facts,exec-select-calls,exec-form-kernels" --pipeline="tg-derive-facts,exec-select-calls,exec-form-kernels,exec-offload-state{group-bytes=2048},exec-plan-memory,exec-outline-kernels,exec-batch-launches,exec-verify-plan" --rtol=0 --seeds=2
// RUN: braid-interp %s --compare --reference-pipeline="tg-derive-facts,exec-select-calls,exec-form-kernels" --pipeline="tg-derive-facts,exec-select-calls,exec-form-kernels,exec-offload-state{group-bytes=2048},comm-overlap,exec-plan-memory,exec-outline-kernels,exec-batch-launches,exec-verify-plan" --rtol=0 --seeds=2

// Two states of 1024 bytes make a group; the third is one of its own.  What the program hands on as
// it is stays where it is, and so does a statistic of the model.
// CHECK-LABEL: @train
// CHECK-SAME: %[[MU:arg[0-9]+]]: tensor<16x16xf32> {exec.host, tg.state = #tg.state<"u.m"
// CHECK-SAME: %[[MV:arg[0-9]+]]: tensor<16x16xf32> {exec.host, tg.state = #tg.state<"v.m"
// CHECK-SAME: %[[MW:arg[0-9]+]]: tensor<16x16xf32> {exec.host, tg.state = #tg.state<"w.m"
// CHECK-SAME: {exec.host, tg.state = #tg.state<"w.unused"
// CHECK-SAME: : tensor<16x16xf32> {tg.state = #tg.state<"mean"
// CHECK: exec.matmul
// CHECK: %[[HERE:.*]]:2 = comm.copy %[[MU]], %[[MV]] to device
// CHECK-NEXT: %[[NU:.*]] = exec.kernel {{.*}}(%[[HERE]]#0,
// CHECK: %[[NV:.*]] = exec.matmul {{.*}} acc %[[HERE]]#1
// CHECK: %[[BACK:.*]]:2 = comm.copy %[[NU]], %[[NV]] to host
// CHECK: %[[W:.*]] = comm.copy %[[MW]] to device
// CHECK-NEXT: %[[NW:.*]] = exec.matmul {{.*}} acc %[[W]]
// CHECK: %[[WBACK:.*]] = comm.copy %[[NW]] to host
// CHECK: return {{.*}}, %[[BACK]]#0, %[[BACK]]#1, %[[WBACK]], %[[UNUSED:arg[0-9]+]],
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  func.func @train(%x: tensor<16x16xf32> {tg.input = "x", tg.role = #tg.role<features>},
                   %u: tensor<16x16xf32> {tg.param = #tg.param<"u", #tg.init<ones>>},
                   %v: tensor<16x16xf32> {tg.param = #tg.param<"v", #tg.init<ones>>},
                   %w: tensor<16x16xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                   %mu: tensor<16x16xf32> {tg.state = #tg.state<"u.m", #tg.init<ones>, of = "u", kind = moment>},
                   %mv: tensor<16x16xf32> {tg.state = #tg.state<"v.m", #tg.init<ones>, of = "v", kind = moment>},
                   %mw: tensor<16x16xf32> {tg.state = #tg.state<"w.m", #tg.init<ones>, of = "w", kind = moment>},
                   %unused: tensor<16x16xf32> {tg.state = #tg.state<"w.unused", #tg.init<ones>, of = "w", kind = moment>},
                   %mean: tensor<16x16xf32> {tg.state = #tg.state<"mean", #tg.init<ones>, kind = running_statistic>})
      -> (tensor<16x16xf32> {tg.role = #tg.role<loss>}, tensor<16x16xf32> {tg.updates = "u"}, tensor<16x16xf32> {tg.updates = "u.m"},
          tensor<16x16xf32> {tg.updates = "v.m"}, tensor<16x16xf32> {tg.updates = "w.m"}, tensor<16x16xf32> {tg.updates = "w.unused"},
          tensor<16x16xf32> {tg.updates = "mean"}) {
    %y = tg.contract "bk,kn->bn" %x, %u : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %z = tg.contract "bk,kn->bn" %y, %v : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %l = tg.contract "bk,kn->bn" %z, %w : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %mean1 = arith.addf %mean, %l : tensor<16x16xf32>
    %du = tg.contract "bk,bn->kn" %x, %l : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %dv = tg.contract "bk,bn->kn" %y, %l : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %dw = tg.contract "bk,bn->kn" %z, %l : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %mu1 = arith.addf %mu, %du : tensor<16x16xf32>
    %u1 = arith.subf %u, %mu1 : tensor<16x16xf32>
    %mv1 = arith.addf %mv, %dv : tensor<16x16xf32>
    %mw1 = arith.addf %mw, %dw : tensor<16x16xf32>
    return %l, %u1, %mu1, %mv1, %mw1, %unused, %mean1 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  }
}
