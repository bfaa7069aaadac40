// RUN: braid-opt %s --tg-derive-facts --comm-bucket="bucket-mb=inf first-bucket-mb=inf" 2>&1 | FileCheck %s --check-prefixes=CHECK,UNITS
// RUN: braid-opt %s --tg-derive-facts --comm-bucket="bucket-mb=inf first-bucket-mb=inf per-unit=true" 2>&1 | FileCheck %s --check-prefixes=CHECK,UNITS
// RUN: braid-opt %s --tg-derive-facts --comm-bucket="bucket-mb=inf first-bucket-mb=inf per-unit=false" 2>&1 | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: braid-opt %s --tg-derive-facts --comm-bucket="first-bucket-mb=0.00001 bucket-mb=0.00002 per-unit=false" 2>&1 | FileCheck %s --check-prefix=CAPS
// RUN: braid-opt %s --tg-derive-facts --exec-set-machine=link=0.05,0.01 --comm-bucket="bucket-mb=auto per-unit=false" 2>&1 | FileCheck %s --check-prefix=AUTO

// Parameters that are stored in shards: their gradients go with their unit.

// UNITS:     bucket of 2 tensors, 32 bytes, from 'd' to 'c'
// UNITS:     bucket of 2 tensors, 32 bytes, from 'b' to 'a'
// ALL:       bucket of 4 tensors, 64 bytes, from 'd' to 'a'
// CHECK-NOT: bucket of

// 0.05 us x 10 MB/s x 2 ranks are 1 byte; latency is a twentieth of 19 times that.
// AUTO:      bucket of 2 tensors, 32 bytes, where 19 are enough, from 'd' to 'c'
// AUTO:      bucket of 2 tensors, 32 bytes, where 19 are enough, from 'b' to 'a'

// 0.00002 MiB are 20 bytes, and one tensor.
// CAPS-NOT:  bucket of

comm.mesh @mesh [dp = 2]
func.func @train(%a: tensor<2xf32> {tg.param = #tg.param<"a", #tg.init<ones>, unit = "1">, comm.global = tensor<4xf32>,
                                    comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>},
                 %b: tensor<2xf32> {tg.param = #tg.param<"b", #tg.init<ones>, unit = "1">, comm.global = tensor<4xf32>,
                                    comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>},
                 %c: tensor<2xf32> {tg.param = #tg.param<"c", #tg.init<ones>, unit = "2">, comm.global = tensor<4xf32>,
                                    comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>},
                 %d: tensor<2xf32> {tg.param = #tg.param<"d", #tg.init<ones>, unit = "2">, comm.global = tensor<4xf32>,
                                    comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>},
                 %x: tensor<4xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp}>})
    -> (tensor<2xf32> {tg.updates = "a", comm.global = tensor<4xf32>, comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>},
        tensor<2xf32> {tg.updates = "b", comm.global = tensor<4xf32>, comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>},
        tensor<2xf32> {tg.updates = "c", comm.global = tensor<4xf32>, comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>},
        tensor<2xf32> {tg.updates = "d", comm.global = tensor<4xf32>, comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %gd = comm.reduce_scatter sum %x dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<2xf32>
  %gc = comm.reduce_scatter sum %x dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<2xf32>
  %gb = comm.reduce_scatter sum %x dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<2xf32>
  %ga = comm.reduce_scatter sum %x dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<2xf32>
  %na = arith.subf %a, %ga : tensor<2xf32>
  %nb = arith.subf %b, %gb : tensor<2xf32>
  %nc = arith.subf %c, %gc : tensor<2xf32>
  %nd = arith.subf %d, %gd : tensor<2xf32>
  return %na, %nb, %nc, %nd : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
