// Activations go to the host behind their last use in forward, and come back before the first in backward.
// RUN: braid-opt %s --exec-offload-activations=all=true --exec-verify-values --split-input-file 2>/dev/null | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: braid-opt %s --exec-set-machine=compute=1,1 --exec-offload-activations=min-bytes=5000 --exec-verify-values --split-input-file 2>&1 | FileCheck %s --check-prefixes=CHECK,SOME
// RUN: braid-opt %s --exec-set-machine=compute=100000,100000 --exec-offload-activations=min-bytes=5000 --split-input-file 2>&1 | FileCheck %s --check-prefix=FAST
// RUN: braid-opt %s --exec-offload-activations --split-input-file 2>&1 | FileCheck %s --check-prefix=LATENCY
// RUN: braid-interp %s --compare --reference-pipeline="exec-verify-values" --pipeline="exec-offload-activations{all=true}" --rtol=0 --atol=0 --seeds=2
// RUN: braid-interp %s --compare --reference-pipeline="exec-verify-values" --pipeline="exec-offload-activations{all=true},comm-overlap" --rtol=0 --atol=0 --seeds=2
// RUN: braid-interp %s --compare --reference-pipeline="exec-verify-values" --pipeline="exec-offload-activations{all=true},exec-plan-memory,exec-verify-plan" --rtol=0 --atol=0 --seeds=2
// RUN: braid-interp %s --compare --reference-pipeline="exec-verify-values" --pipeline="exec-offload-activations{all=true},comm-overlap,exec-plan-memory,exec-verify-plan" --rtol=0 --atol=0 --seeds=2

// `%y` is read through a view by both, `%small` by backward alone, and the loss is the caller's.  What
// backward makes stays, and so do parameters.
// SOME: remark: @train: small, 4.00 KiB, stays on the device: it is smaller than the 4.88 KiB of min-bytes
// SOME: remark: @train: y, 16.0 KiB, waits in the host's memory: two copies of {{.*}} us each are hidden in the {{.*}} us until it is read again
// SOME: remark: @train: 1 of 2 tensors kept for backward, 16.0 KiB of 20.0 KiB, wait in the host's memory
// LATENCY: remark: @train: small, 4.00 KiB, stays on the device: the latency of a copy below {{.*}} exceeds its transfer time
// FAST: remark: @train: y, 16.0 KiB, stays on the device: of two copies of {{.*}} us each, in the {{.*}} us until it is read again, {{.*}} us would be exposed, because forward ends before the copy to the host
// FAST: warning: none of the 2 activations kept for backward can be copied to the host and back before backward reads it, so all stay on the device
// CHECK-LABEL: func.func @train(%arg0
// CHECK: %[[Y:.*]] = exec.matmul
// CHECK-NEXT: %[[VIEW:.*]] = exec.view %[[Y]]
// CHECK-NEXT: exec.matmul {{.*}}(%[[VIEW]],
// CHECK-NEXT: %[[AWAY:.*]] = comm.copy %[[Y]] to host
// CHECK: %[[SMALL:.*]] = exec.matmul
// ALL-NEXT: %[[SMALLAWAY:.*]] = comm.copy %[[SMALL]] to host
// CHECK: %[[BACK:.*]] = comm.copy %[[AWAY]] to device
// CHECK-NEXT: %[[AGAIN:.*]] = exec.view %[[BACK]]
// CHECK-NEXT: exec.matmul {{.*}}(%[[AGAIN]],
// ALL-NEXT: %[[SMALLBACK:.*]] = comm.copy %[[SMALLAWAY]] to device
// ALL-NEXT: exec.matmul {{.*}}, %[[SMALLBACK]])
// SOME-NEXT: exec.matmul {{.*}}, %[[SMALL]])
// CHECK: exec.matmul {{.*}}(%[[BACK]],
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  func.func @train(%x: tensor<64x64xf32> {tg.input = "x", tg.role = #tg.role<features>},
                   %w: tensor<64x64xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                   %v: tensor<64x16xf32> {tg.param = #tg.param<"v", #tg.init<ones>>})
      -> (tensor<64x16xf32> {tg.role = #tg.role<loss>}, tensor<64x64xf32> {tg.updates = "w"}, tensor<64x16xf32> {tg.updates = "v"}) {
    %y = exec.matmul "mk,kn->mn"(%x, %w) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32> loc(fused<#tg.facts<forward>>["y"])
    %t = exec.view %y offset 0 strides [64, 1] : tensor<64x64xf32> -> tensor<64x64xf32>
    %l = exec.matmul "mk,kn->mn"(%t, %v) : tensor<64x64xf32>, tensor<64x16xf32> -> tensor<64x16xf32> loc(fused<#tg.facts<forward>>["l"])
    %small = exec.matmul "mk,kn->mn"(%x, %v) : tensor<64x64xf32>, tensor<64x16xf32> -> tensor<64x16xf32> loc(fused<#tg.facts<forward>>["small"])
    %m = exec.matmul "mk,kn->mn"(%x, %l) : tensor<64x64xf32>, tensor<64x16xf32> -> tensor<64x16xf32> loc(fused<#tg.facts<forward>>["m"])
    %loss = exec.matmul "mk,kn->mn"(%x, %m) : tensor<64x64xf32>, tensor<64x16xf32> -> tensor<64x16xf32> loc(fused<#tg.facts<forward>>["loss"])
    %d = exec.matmul "mk,nk->mn"(%loss, %loss) : tensor<64x16xf32>, tensor<64x16xf32> -> tensor<64x64xf32> loc(fused<#tg.facts<backward>>["d"])
    %e = exec.matmul "mk,kn->mn"(%d, %w) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32> loc(fused<#tg.facts<backward>>["e"])
    %f = exec.matmul "mk,kn->mn"(%e, %d) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32> loc(fused<#tg.facts<backward>>["f"])
    %g = exec.matmul "mk,kn->mn"(%t, %f) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32> loc(fused<#tg.facts<backward>>["g"])
    %h = exec.matmul "mk,kn->mn"(%g, %small) : tensor<64x64xf32>, tensor<64x16xf32> -> tensor<64x16xf32> loc(fused<#tg.facts<backward>>["h"])
    %i = exec.matmul "mk,kn->mn"(%y, %g) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32> loc(fused<#tg.facts<backward>>["i"])
    return %loss, %i, %h : tensor<64x16xf32>, tensor<64x64xf32>, tensor<64x16xf32>
  }
}
