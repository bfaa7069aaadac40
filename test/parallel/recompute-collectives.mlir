// Backward replays an all-gather of activations like any other op, where all ranks run the
// program and so come to it in one order: they meet in the same collectives twice.  A sum over
// ranks is never repeated, and ranks that run programs of their own repeat nothing.
// DEFINE: %{derive} = --tg-derive-facts --tg-recompute=policy=full --tg-verify-replays
// RUN: braid-opt %s %{derive} 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: sed 's/program<@mesh>/program<@mesh, pp = [0]>/' %s | braid-opt %{derive} 2>/dev/null | FileCheck %s --check-prefix=ALONE
// RUN: braid-opt %s %{derive} 2>/dev/null | braid-opt --comm-verify-order -o /dev/null

// CHECK: %[[PART:.+]] = math.exp
// CHECK: %[[WHOLE:.+]] = comm.all_gather %[[PART]] dims [1]
// CHECK: %[[SUM:.+]] = comm.all_reduce sum
// CHECK: tg.reduce
// CHECK: %[[AGAIN:.+]] = math.exp %{{.+}} {tg.replays = 1 : i64}
// CHECK: %[[GATHERED:.+]] = comm.all_gather %[[AGAIN]] dims [1] over @mesh {tp} {tg.replays = 2 : i64}
// CHECK-NOT: comm.all_reduce
// CHECK: tg.contract "bi,bo->io" %[[GATHERED]]
// CHECK: tg.contract "bi,bo->io" %[[SUM]]
// REMARK: keeps a/all_reduce, 64 bytes, {{.*}}: it is a reduction over ranks
// REMARK: replays a/all_gather, 64 bytes
// ALONE: tg.reduce
// ALONE-NOT: comm.all_gather
// ALONE: return

comm.mesh @mesh [tp = 2, pp = 2]

func.func @train(%x: tensor<4x2xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<2x2xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "a">},
                 %u: tensor<4x4xf32> {tg.param = #tg.param<"u", #tg.init<ones>, unit = "a">},
                 %v: tensor<4x4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "b">})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4x2xf32> {tg.grad_of = "u"}, tensor<4x2xf32> {tg.grad_of = "v"})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = tg.contract "bi,io->bo" %x, %w : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %e = math.exp %a : tensor<4x2xf32>
  %g = comm.all_gather %e dims [1] over @mesh {tp} : (tensor<4x2xf32>) -> tensor<4x4xf32>
  %y = tg.contract "bi,io->bo" %g, %u : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = comm.all_reduce sum %y over @mesh {tp} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = tg.contract "bi,io->bo" %s, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %l = tg.reduce sum %z dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
  %du = tg.contract "bi,bo->io" %g, %x : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %dv = tg.contract "bi,bo->io" %s, %x : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %l, %du, %dv : tensor<f32>, tensor<4x2xf32>, tensor<4x2xf32>
}
