// What backward computes again, by what a replay costs.
// DEFINE: %{opt} = braid-opt %s --split-input-file --tg-derive-facts
// RUN: %{opt} --tg-recompute=policy=selective --tg-verify-replays 2>/dev/null | FileCheck %s --check-prefixes=ALL,SELECTIVE
// RUN: %{opt} --tg-recompute=policy=full --tg-verify-replays 2>/dev/null | FileCheck %s --check-prefixes=ALL,FULL
// RUN: %{opt} --tg-recompute="policy=auto bytes-per-second=0" --tg-verify-replays 2>/dev/null | FileCheck %s --check-prefixes=ALL,FULL
// RUN: %{opt} --tg-recompute=policy=attention --tg-verify-replays 2>/dev/null | FileCheck %s --check-prefixes=ALL,ATTENTION
// RUN: %{opt} --tg-recompute=policy=none 2>/dev/null | FileCheck %s --check-prefixes=ALL --implicit-check-not=tg.replays
// RUN: %{opt} --tg-recompute="policy=auto bytes-per-second=1e18" 2>/dev/null | FileCheck %s --check-prefixes=ALL --implicit-check-not=tg.replays
// RUN: %{opt} --tg-recompute=policy=full --verify-diagnostics -o /dev/null

// What the unit "a" computes is read in backward, and "b" reads what it makes of that: this is
// kept.  One replay of exp serves both readers.  A view is made again and never kept, and what
// is made of weights alone stays as it is.
// ALL-LABEL: func.func @train
// ALL: %[[W:.+]] = tg.transpose %arg1
// ALL: %[[A:.+]] = tg.contract "bi,io->bo" %arg0, %[[W]]
// ALL: %[[Y:.+]] = tg.contract "bi,io->bo" %{{.+}}, %arg2
// ALL: tg.reduce
// SELECTIVE: %[[E:.+]] = math.exp %[[A]] {tg.replays = 0 : i64}
// SELECTIVE: tg.contract "bi,bo->io" %[[E]], %arg0
// SELECTIVE: arith.mulf %[[A]], %[[E]]
// SELECTIVE: tg.contract "bi,bo->io" %[[Y]], %arg0
// SELECTIVE: return
// FULL: %[[AGAIN:.+]] = tg.contract "bi,io->bo" %arg0, %[[W]] {tg.replays = 0 : i64}
// FULL: %[[E:.+]] = math.exp %[[AGAIN]] {tg.replays = 1 : i64}
// FULL: tg.contract "bi,bo->io" %[[E]], %arg0
// FULL: arith.mulf %[[AGAIN]], %[[E]]
// FULL: tg.contract "bi,bo->io" %[[Y]], %arg0
// FULL: return
// ATTENTION-NOT: tg.replays
// ATTENTION: return
// expected-remark @+4 {{@train: keeps a/contract, 64 bytes, instead of a replay of 2.0 us: another unit reads it}}
// expected-remark @+3 {{@train: replays a/contract, 64 bytes, in 2.0 us: computed inside its unit}}
// expected-remark @+2 {{@train: replays a/exp, 64 bytes, in 0.0 us: computed inside its unit}}
// expected-remark @+1 {{@train: unit "a" keeps 1 values of 64 bytes for backward, which replays 2 ops in}}
func.func @train(%x: tensor<4x4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<4x4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "a">},
                 %u: tensor<4x4xf32> {tg.param = #tg.param<"u", #tg.init<ones>, unit = "a">},
                 %v: tensor<4x4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "b">})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4x4xf32> {tg.grad_of = "u"},
        tensor<4x4xf32> {tg.grad_of = "w"}, tensor<4x4xf32> {tg.grad_of = "v"}) {
  %t = tg.transpose %w [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %a = tg.contract "bi,io->bo" %x, %t : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = math.exp %a : tensor<4x4xf32>
  %y = tg.contract "bi,io->bo" %e, %u : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = tg.contract "bi,io->bo" %y, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %l = tg.reduce sum %z dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
  %du = tg.contract "bi,bo->io" %e, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %da = arith.mulf %a, %e : tensor<4x4xf32>
  %dw = tg.contract "bo,bi->oi" %da, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %dv = tg.contract "bi,bo->io" %y, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %l, %du, %dw, %dv : tensor<f32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Attention contracts values of the batch with each other.  What it makes of that is replayed, up
// to the next weight, and with it the view that it reads.
// ALL-LABEL: func.func @train
// ALL: %[[Q:.+]] = tg.contract "bi,io->bo" %arg0, %arg1
// ATTENTION: tg.reduce
// ATTENTION: tg.transpose %[[Q]] [1, 0] {tg.replays = 0 : i64}
// ATTENTION: tg.contract "bi,ic->bc" %[[Q]], %{{.+}} {tg.replays = 1 : i64}
// ATTENTION: math.exp %{{.+}} {tg.replays = 2 : i64}
// ATTENTION-NOT: tg.replays
// ATTENTION: return
// expected-remark @+5 {{@train: keeps b/contract, 64 bytes, instead of a replay of 2.0 us: in the last unit, or in no unit}}
// expected-remark @+4 {{@train: replays a/contract, 64 bytes}}
// expected-remark @+3 {{@train: replays a/exp, 64 bytes}}
// expected-remark @+2 {{@train: unit "a" keeps 0 values of 0 bytes for backward, which replays 3 ops in}}
// expected-remark @+1 {{@train: unit "b" keeps 1 values of 64 bytes for backward, which replays 0 ops in 0.0 us}}
func.func @train(%x: tensor<4x4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<4x4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "a">},
                 %u: tensor<4x4xf32> {tg.param = #tg.param<"u", #tg.init<ones>, unit = "a">},
                 %v: tensor<4x4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "b">})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4x4xf32> {tg.grad_of = "u"}, tensor<4x4xf32> {tg.grad_of = "v"}) {
  %q = tg.contract "bi,io->bo" %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %k = tg.transpose %q [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %s = tg.contract "bi,ic->bc" %q, %k : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %o = math.exp %s : tensor<4x4xf32>
  %y = tg.contract "bi,io->bo" %o, %u : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = tg.contract "bi,io->bo" %y, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %l = tg.reduce sum %z dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
  %do = arith.mulf %x, %o : tensor<4x4xf32>
  %du = tg.contract "bi,bo->io" %do, %q : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %dv = tg.contract "bi,bo->io" %z, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %l, %du, %dv : tensor<f32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A sum over ranks is never computed twice: it is kept.
comm.mesh @mesh [tp = 2]
// ALL-LABEL: func.func @train
// ALL: %[[R:.+]] = comm.all_reduce
// ALL-NOT: comm.all_reduce
// FULL: math.exp %[[R]] {tg.replays
// ALL: return
// expected-remark @+3 {{@train: keeps a/all_reduce, 64 bytes, instead of a replay of 20.0 us: it is a reduction over ranks}}
// expected-remark @+2 {{@train: replays a/exp, 64 bytes}}
// expected-remark @+1 {{@train: unit "a" keeps 1 values of 64 bytes for backward, which replays 1 ops in}}
func.func @train(%x: tensor<4x4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<4x4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "a">},
                 %v: tensor<4x4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "b">})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4x4xf32> {tg.grad_of = "w"})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = tg.contract "bi,io->bo" %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = comm.all_reduce sum %a over @mesh {tp} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = math.exp %r : tensor<4x4xf32>
  %y = arith.addf %e, %e : tensor<4x4xf32>
  %z = tg.contract "bi,io->bo" %y, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %l = tg.reduce sum %z dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
  %da = arith.mulf %r, %e : tensor<4x4xf32>
  %dw = tg.contract "bi,bo->io" %da, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %l, %dw : tensor<f32>, tensor<4x4xf32>
}

// -----

// A program that does not train is left alone.
// ALL-LABEL: func.func @eval
// ALL-NOT: tg.replays
// ALL: return
func.func @eval(%x: tensor<4xf32> {tg.input = "x"}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %e = math.exp %x : tensor<4xf32>
  %l = tg.reduce sum %e dims [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}
