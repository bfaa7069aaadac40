// Results whose next use is far away are marked, those that are read soon are not; where launches of
// a kernel differ, most of the bytes decide.  Never on a GPU.
// RUN: braid-opt %s --exec-stream-stores --split-input-file | FileCheck %s
// RUN: sed 's/^module {/module attributes {exec.target = #exec.target<"cuda">} {/' %s | braid-opt --exec-stream-stores --split-input-file | FileCheck %s --check-prefix=GPU
// GPU-NOT: exec.streamed

// The copy of @w is read in the next run alone, and each run moves 192 MiB; @y is read by the next launch.
// CHECK: exec.kernel_def @far {{.*}} attributes {exec.streamed = array<i64: 0>}
// CHECK: exec.kernel_def @near
// CHECK-NOT: exec.streamed
// CHECK: exec.program
module {
exec.tensor @x at 0 bytes 134217728 category parameters : tensor<33554432xf32> = #tg.param<"x", #tg.init<ones>>
exec.tensor @w at 134217728 bytes 67108864 category parameters : tensor<33554432xbf16> = #tg.param<"w", #tg.init<ones>>
exec.kernel_def @far space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xbf16, [1]>] ties [-1] {
^bb0(%a: tensor<1xf32>):
  %e = tensor.empty() : tensor<1xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%a : tensor<1xf32>) outs(%e : tensor<1xbf16>) {
  ^bb0(%u: f32, %o: bf16):
    %t = arith.truncf %u : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1xbf16>
  exec.yield %r : tensor<1xbf16>
}
// In place: the line is in the caches.
exec.kernel_def @near space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>] ties [-1, 0] {
^bb0(%a: tensor<1xf32>):
  %e = tensor.empty() : tensor<1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%a : tensor<1xf32>) outs(%e : tensor<1xf32>) {
  ^bb0(%u: f32, %o: f32):
    %m = arith.addf %u, %u : f32
    linalg.yield %m : f32
  } -> tensor<1xf32>
  exec.yield %r, %r : tensor<1xf32>, tensor<1xf32>
}
exec.program @train arena 201334784 {
  exec.buffer @y at 201326592 bytes 4096 live 1 to 2 category activations name "y"
  exec.buffer @z at 201330688 bytes 4096 live 2 to 3 category activations name "z" "result" role "z" : tensor<1024xf32>
  %x = exec.ref @x + 0 : !exec.ref<33554432xf32, [1]>
  %head = exec.ref @x + 0 : !exec.ref<1024xf32, [1]>
  %w = exec.ref @w + 0 : !exec.ref<33554432xbf16, [1]>
  %y = exec.ref @y + 0 : !exec.ref<1024xf32, [1]>
  %z = exec.ref @z + 0 : !exec.ref<1024xf32, [1]>
  exec.launch @far batch 1 (%x) outs (%w) : !exec.ref<33554432xf32, [1]> -> !exec.ref<33554432xbf16, [1]>
  exec.launch @near batch 1 (%head) outs (%y, %head) : !exec.ref<1024xf32, [1]> -> !exec.ref<1024xf32, [1]>, !exec.ref<1024xf32, [1]>
  exec.launch @near batch 1 (%y) outs (%z, %y) : !exec.ref<1024xf32, [1]> -> !exec.ref<1024xf32, [1]>, !exec.ref<1024xf32, [1]>
}
}

// -----

// Both launches of the kernel write something that the next reads: one of 64 MiB, one of 4 KiB.
// CHECK: exec.kernel_def @double {{.*}} attributes {exec.streamed = array<i64: 0>}
module {
exec.kernel_def @double space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>] ties [-1] {
^bb0(%a: tensor<1xf32>):
  %e = tensor.empty() : tensor<1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%a : tensor<1xf32>) outs(%e : tensor<1xf32>) {
  ^bb0(%u: f32, %o: f32):
    %m = arith.addf %u, %u : f32
    linalg.yield %m : f32
  } -> tensor<1xf32>
  exec.yield %r : tensor<1xf32>
}
exec.program @p arena 134225920 {
  exec.buffer @a at 0 bytes 67108864 live -1 to 0 category inputs name "a" "input" role "a" : tensor<16777216xf32>
  exec.buffer @b at 67108864 bytes 67108864 live 0 to 1 category activations name "b"
  exec.buffer @c at 134217728 bytes 4096 live 1 to 2 category activations name "c"
  exec.buffer @d at 134221824 bytes 4096 live 2 to 3 category activations name "d" "result" role "d" : tensor<1024xf32>
  %a = exec.ref @a + 0 : !exec.ref<16777216xf32, [1]>
  %b = exec.ref @b + 0 : !exec.ref<16777216xf32, [1]>
  %head = exec.ref @b + 0 : !exec.ref<1024xf32, [1]>
  %c = exec.ref @c + 0 : !exec.ref<1024xf32, [1]>
  %d = exec.ref @d + 0 : !exec.ref<1024xf32, [1]>
  exec.launch @double batch 1 (%a) outs (%b) : !exec.ref<16777216xf32, [1]> -> !exec.ref<16777216xf32, [1]>
  exec.launch @double batch 1 (%head) outs (%c) : !exec.ref<1024xf32, [1]> -> !exec.ref<1024xf32, [1]>
  exec.launch @double batch 1 (%c) outs (%d) : !exec.ref<1024xf32, [1]> -> !exec.ref<1024xf32, [1]>
}
}
