// Every collective on numbers that can be checked by eye.  An input that is
// sharded over an axis gives each rank its own data.
//
// RUN: split-file %s %t
// RUN: braid-interp %t/reduce-scatter.mlir | FileCheck %t/reduce-scatter.mlir
// RUN: braid-interp %t/reduce-scatter.mlir --per-rank | FileCheck %t/reduce-scatter.mlir --check-prefix=RANKS
// RUN: braid-interp %t/reductions.mlir | FileCheck %t/reductions.mlir
// RUN: braid-interp %t/gather.mlir | FileCheck %t/gather.mlir
// RUN: braid-interp %t/all-to-all.mlir | FileCheck %t/all-to-all.mlir
// RUN: braid-interp %t/permute.mlir | FileCheck %t/permute.mlir
// RUN: braid-interp %t/flat.mlir | FileCheck %t/flat.mlir
// RUN: braid-interp %t/groups.mlir | FileCheck %t/groups.mlir
// RUN: braid-interp %t/parts.mlir | FileCheck %t/parts.mlir
// RUN: braid-interp %t/broadcast.mlir | FileCheck %t/broadcast.mlir
// RUN: braid-interp %t/tickets.mlir | FileCheck %t/tickets.mlir

//--- reduce-scatter.mlir
// [-1, 5] + [3, -3] = [2, 2] on rank 0, [2, 2] + [4, 1] = [6, 3] on rank 1.
// CHECK: result0: tensor<2x2xf32> = {{\[\[}}2, 2], [6, 3]]
// RANKS: rank 0: result0: tensor<1x2xf32> = {{\[\[}}2, 2]]
// RANKS-NEXT: rank 1: result0: tensor<1x2xf32> = {{\[\[}}6, 3]]
comm.mesh @mesh [dp = 2]
func.func @f() -> (tensor<1x2xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<2x2xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %all = arith.constant dense<[[[-1.0, 5.0], [2.0, 2.0]], [[3.0, -3.0], [4.0, 1.0]]]> : tensor<2x2x2xf32>
  %own = comm.slice %all dim 0 over @mesh {dp} : tensor<2x2x2xf32> -> tensor<1x2x2xf32>
  %x = tg.reshape %own : tensor<1x2x2xf32> -> tensor<2x2xf32>
  %y = comm.reduce_scatter sum %x dims [0] over @mesh {dp} : (tensor<2x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

//--- reductions.mlir
// Three ranks hold [1, -2], [5, 4], [3, 7].  A bucket has two tensors.
// CHECK: sum: tensor<2xf32> = [9, 9]
// CHECK-NEXT: mean: tensor<2xf32> = [3, 3]
// CHECK-NEXT: max: tensor<2xf32> = [5, 7]
// CHECK-NEXT: min: tensor<2xf32> = [1, -2]
// CHECK-NEXT: index: tensor<i32> = 3
// CHECK-NEXT: any: tensor<i1> = true
comm.mesh @mesh [dp = 3]
func.func @f() -> (tensor<2xf32> {tg.output = "sum"}, tensor<2xf32> {tg.output = "mean"}, tensor<2xf32> {tg.output = "max"},
                   tensor<2xf32> {tg.output = "min"}, tensor<i32> {tg.output = "index"}, tensor<i1> {tg.output = "any"})
    attributes {comm.program = #comm.program<@mesh>} {
  %all = arith.constant dense<[1.0, -2.0, 5.0, 4.0, 3.0, 7.0]> : tensor<6xf32>
  %x = comm.slice %all dim 0 over @mesh {dp} : tensor<6xf32> -> tensor<2xf32>
  %i = comm.axis_index over @mesh {dp} : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %is = arith.cmpi eq, %i, %one : tensor<i32>
  %sum, %index = comm.all_reduce sum %x, %i over @mesh {dp} : (tensor<2xf32>, tensor<i32>) -> (tensor<2xf32>, tensor<i32>)
  %mean = comm.all_reduce mean %x over @mesh {dp} : (tensor<2xf32>) -> tensor<2xf32>
  %max = comm.all_reduce max %x over @mesh {dp} : (tensor<2xf32>) -> tensor<2xf32>
  %min = comm.all_reduce min %x over @mesh {dp} : (tensor<2xf32>) -> tensor<2xf32>
  %any = comm.all_reduce max %is over @mesh {dp} : (tensor<i1>) -> tensor<i1>
  return %sum, %mean, %max, %min, %index, %any : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<i32>, tensor<i1>
}

//--- gather.mlir
// Rank r holds row r of [[0, 1], [2, 3]] as a block of one row, of one column.
// CHECK: rows: tensor<2x2xi32> = {{\[\[}}0, 1], [2, 3]]
// CHECK-NEXT: columns: tensor<2x2xi32> = {{\[\[}}0, 2], [1, 3]]
comm.mesh @mesh [dp = 2]
func.func @f() -> (tensor<2x2xi32> {tg.output = "rows"}, tensor<2x2xi32> {tg.output = "columns"})
    attributes {comm.program = #comm.program<@mesh>} {
  %all = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %row = comm.slice %all dim 0 over @mesh {dp} : tensor<2x2xi32> -> tensor<1x2xi32>
  %column = tg.reshape %row : tensor<1x2xi32> -> tensor<2x1xi32>
  %rows, %columns = comm.all_gather %row, %column dims [0, 1] over @mesh {dp} : (tensor<1x2xi32>, tensor<2x1xi32>) -> (tensor<2x2xi32>, tensor<2x2xi32>)
  return %rows, %columns : tensor<2x2xi32>, tensor<2x2xi32>
}

//--- all-to-all.mlir
// From rows to columns.
// CHECK: result0: tensor<2x4xi32> = {{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]
comm.mesh @mesh [tp = 2]
func.func @f() -> (tensor<2x2xi32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<2x4xi32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %all = arith.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi32>
  %row = comm.slice %all dim 0 over @mesh {tp} : tensor<2x4xi32> -> tensor<1x4xi32>
  %y = comm.all_to_all %row split [1] concat [0] over @mesh {tp} : (tensor<1x4xi32>) -> tensor<2x2xi32>
  return %y : tensor<2x2xi32>
}

//--- permute.mlir
// 10, 11, 12 around the ring; then to the next rank only: rank 0 has zeros.
// CHECK: ring: tensor<3xi32> = [12, 10, 11]
// CHECK-NEXT: line: tensor<3xi32> = [0, 10, 11]
comm.mesh @mesh [tp = 3]
func.func @f() -> (tensor<1xi32> {tg.output = "ring", comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<3xi32>},
                 tensor<1xi32> {tg.output = "line", comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<3xi32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %all = arith.constant dense<[10, 11, 12]> : tensor<3xi32>
  %x = comm.slice %all dim 0 over @mesh {tp} : tensor<3xi32> -> tensor<1xi32>
  %ring = comm.permute %x pairs [0 -> 1, 1 -> 2, 2 -> 0] over @mesh {tp} : (tensor<1xi32>) -> tensor<1xi32>
  %line = comm.permute %x pairs [0 -> 1, 1 -> 2] over @mesh {tp} : (tensor<1xi32>) -> tensor<1xi32>
  return %ring, %line : tensor<1xi32>, tensor<1xi32>
}

//--- flat.mlir
// Nine elements over two ranks: five each, and one of padding, which no result
// shows although the ranks add their number to it.
// CHECK: gathered: tensor<3x3xi32> = {{\[\[}}0, 1, 2], [3, 4, 6], [7, 8, 9]]
// CHECK-NEXT: reduced: tensor<3x3xi32> = {{\[\[}}0, 2, 4], [6, 8, 10], [12, 14, 16]]
// CHECK-NEXT: shard: tensor<3x3xi32> = {{\[\[}}0, 1, 2], [3, 4, 6], [7, 8, 9]]
comm.mesh @mesh [dp = 2]
func.func @f() -> (tensor<3x3xi32> {tg.output = "gathered"},
                   tensor<5xi32> {tg.output = "reduced", comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, comm.global = tensor<3x3xi32>},
                   tensor<5xi32> {tg.output = "shard", comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, comm.global = tensor<3x3xi32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %all = arith.constant dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8]]> : tensor<3x3xi32>
  %i = comm.axis_index over @mesh {dp} : tensor<i32>
  %i5 = tg.broadcast %i dims [] : tensor<i32> -> tensor<5xi32>
  %own = comm.slice %all dim flat over @mesh {dp} : tensor<3x3xi32> -> tensor<5xi32>
  %shard = arith.addi %own, %i5 : tensor<5xi32>
  %gathered = comm.all_gather %shard dims [flat] over @mesh {dp} : (tensor<5xi32>) -> tensor<3x3xi32>
  %reduced = comm.reduce_scatter sum %all dims [flat] over @mesh {dp} : (tensor<3x3xi32>) -> tensor<5xi32>
  return %gathered, %reduced, %shard : tensor<3x3xi32>, tensor<5xi32>, tensor<5xi32>
}

//--- groups.mlir
// Ranks 0 to 5 are (dp, tp) = 00 01 02 10 11 12.  Over {dp, tp} they are in this
// order, over {tp, dp} in that of columns.
// CHECK: tp: tensor<2x3xi32> = {{\[\[}}0, 1, 2], [3, 4, 5]]
// CHECK-NEXT: dp: tensor<3x2xi32> = {{\[\[}}0, 3], [1, 4], [2, 5]]
// CHECK-NEXT: dp, tp: tensor<6xi32> = [0, 1, 2, 3, 4, 5]
// CHECK-NEXT: tp, dp: tensor<6xi32> = [0, 3, 1, 4, 2, 5]
// CHECK-NEXT: number: tensor<6xi32> = [0, 2, 4, 1, 3, 5]
// CHECK-NEXT: sum: tensor<i32> = 15
comm.mesh @mesh [dp = 2, tp = 3]
func.func @f() -> (tensor<1x3xi32> {tg.output = "tp", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<2x3xi32>},
                   tensor<1x2xi32> {tg.output = "dp", comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<3x2xi32>},
                   tensor<6xi32> {tg.output = "dp, tp"}, tensor<6xi32> {tg.output = "tp, dp"},
                   tensor<1xi32> {tg.output = "number", comm.sharding = #comm.sharding<@mesh, {dp, tp}>, comm.global = tensor<6xi32>},
                   tensor<i32> {tg.output = "sum"})
    attributes {comm.program = #comm.program<@mesh>} {
  %rank = comm.axis_index over @mesh {dp, tp} : tensor<i32>
  %x = tg.reshape %rank : tensor<i32> -> tensor<1xi32>
  %other = comm.axis_index over @mesh {tp, dp} : tensor<i32>
  %number = tg.reshape %other : tensor<i32> -> tensor<1xi32>
  %row = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<1xi32>) -> tensor<3xi32>
  %column = comm.all_gather %x dims [0] over @mesh {dp} : (tensor<1xi32>) -> tensor<2xi32>
  %rows = tg.reshape %row : tensor<3xi32> -> tensor<1x3xi32>
  %columns = tg.reshape %column : tensor<2xi32> -> tensor<1x2xi32>
  %all = comm.all_gather %x dims [0] over @mesh {dp, tp} : (tensor<1xi32>) -> tensor<6xi32>
  %turned = comm.all_gather %x dims [0] over @mesh {tp, dp} : (tensor<1xi32>) -> tensor<6xi32>
  %sum = comm.all_reduce sum %rank over @mesh {tp, dp} : (tensor<i32>) -> tensor<i32>
  return %rows, %columns, %all, %turned, %number, %sum : tensor<1x3xi32>, tensor<1x2xi32>, tensor<6xi32>, tensor<6xi32>, tensor<1xi32>, tensor<i32>
}

//--- parts.mlir
// slice and assemble with shifts.
// CHECK: next: tensor<3xi32> = [20, 30, 10]
// CHECK-NEXT: again: tensor<3xi32> = [10, 20, 30]
comm.mesh @mesh [tp = 3]
func.func @f() -> (tensor<1xi32> {tg.output = "next", comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<3xi32>},
                   tensor<3xi32> {tg.output = "again"})
    attributes {comm.program = #comm.program<@mesh>} {
  %all = arith.constant dense<[10, 20, 30]> : tensor<3xi32>
  %own = comm.slice %all dim 0 over @mesh {tp} : tensor<3xi32> -> tensor<1xi32>
  %next = comm.slice %all dim 0 shift 1 over @mesh {tp} : tensor<3xi32> -> tensor<1xi32>
  %last = comm.slice %all dim 0 shift -1 over @mesh {tp} : tensor<3xi32> -> tensor<1xi32>
  %again = comm.assemble %last, %own, %next dim 0 shifts [-1, 0, 1] over @mesh {tp} : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  return %next, %again : tensor<1xi32>, tensor<3xi32>
}

//--- broadcast.mlir
// CHECK: result0: tensor<2xi32> = [7, 7]
// CHECK-NEXT: result1: tensor<2xi32> = [3, 4]
comm.mesh @mesh [dp = 2]
func.func @f() -> (tensor<1xi32> {comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<2xi32>},
                   tensor<1xi32> {comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<2xi32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %all = arith.constant dense<[3, 7]> : tensor<2xi32>
  %x = comm.slice %all dim 0 over @mesh {dp} : tensor<2xi32> -> tensor<1xi32>
  %y = comm.broadcast %x root 1 over @mesh {dp} : (tensor<1xi32>) -> tensor<1xi32>
  %pair = arith.constant dense<[3, 4]> : tensor<2xi32>
  %z = comm.scatter %pair dims [0] root 1 over @mesh {dp} : (tensor<2xi32>) -> tensor<1xi32>
  return %y, %z : tensor<1xi32>, tensor<1xi32>
}

//--- tickets.mlir
// Two collectives under way, waited for in the other order.
// CHECK: result0: tensor<i32> = 1
// CHECK-NEXT: result1: tensor<2xi32> = [0, 1]
comm.mesh @mesh [dp = 2]
func.func @f() -> (tensor<i32>, tensor<2xi32>) attributes {comm.program = #comm.program<@mesh>} {
  %i = comm.axis_index over @mesh {dp} : tensor<i32>
  %x = tg.reshape %i : tensor<i32> -> tensor<1xi32>
  %t0 = comm.start {
    %s = comm.all_reduce sum %i over @mesh {dp} : (tensor<i32>) -> tensor<i32>
  } : !comm.ticket<tensor<i32>>
  %t1 = comm.start {
    %g = comm.all_gather %x dims [0] over @mesh {dp} : (tensor<1xi32>) -> tensor<2xi32>
  } : !comm.ticket<tensor<2xi32>>
  comm.barrier over @mesh {dp} : () -> ()
  %all = comm.wait %t1 : !comm.ticket<tensor<2xi32>> -> tensor<2xi32>
  %sum = comm.wait %t0 : !comm.ticket<tensor<i32>> -> tensor<i32>
  return %sum, %all : tensor<i32>, tensor<2xi32>
}
