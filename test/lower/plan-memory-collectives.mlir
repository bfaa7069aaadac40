// Collectives in memory: operands and outs are places, contiguous ones; nothing is packed.
// RUN: braid-opt %s --tg-derive-facts --exec-form-kernels --exec-plan-memory --exec-verify-memory --exec-verify-plan | FileCheck %s
// RUN: braid-interp %s --compare --function=all_reduce --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=operand_lives --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=flat --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=strided --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=concats --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=start --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=start_in_place --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"

// CHECK: comm.mesh @mesh
comm.mesh @mesh [dp = 2]

// The sum over ranks is written over its operand, which dies.  The program keeps
// its ranks, an input which part of the logical tensor it is.
// CHECK-LABEL: exec.program @all_reduce
// CHECK-SAME:  attributes {comm.program = #comm.program<@mesh>}
// CHECK-NEXT:  exec.buffer @[[IN:[a-z0-9]+]] {{.*}} "input" role "" : tensor<4x8xf32> {comm.global = tensor<8x8xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>}
// CHECK-NEXT:  exec.buffer @[[OUT:[a-z0-9]+]] {{.*}} "result" role "y" : tensor<4x8xf32>
// CHECK-NEXT:  %[[X:[0-9]+]] = exec.ref @[[IN]] + 0
// CHECK-NEXT:  %[[Y:[0-9]+]] = exec.ref @[[OUT]] + 0
// CHECK:       exec.kernel {{.*}}(%[[X]]) outs(%[[Y]] :
// CHECK:       comm.all_reduce sum %[[Y]] outs(%[[Y]] : !exec.ref<4x8xf32, [8, 1]>) over @mesh {dp} : (!exec.ref<4x8xf32, [8, 1]>) -> ()
// CHECK:       exec.kernel {{.*}}(%[[Y]]) outs(%[[Y]] :
func.func @all_reduce(%x: tensor<4x8xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<8x8xf32>})
    -> (tensor<4x8xf32> {tg.output = "y"}) attributes {comm.program = #comm.program<@mesh>} {
  %0 = math.exp %x : tensor<4x8xf32>
  %1 = comm.all_reduce sum %0 over @mesh {dp} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = math.tanh %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// The operand is read later: the sum has memory of its own.
// CHECK-LABEL: exec.program @operand_lives
// CHECK:       comm.all_reduce sum %[[A:[0-9]+]] outs(%[[B:[0-9]+]] :
// CHECK-NEXT:  exec.kernel {{.*}}(%[[B]], %[[A]])
func.func @operand_lives(%x: tensor<4x8xf32> {tg.input = "x"}) -> (tensor<4x8xf32> {tg.output = "y"})
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = math.exp %x : tensor<4x8xf32>
  %1 = comm.all_reduce sum %0 over @mesh {dp} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = arith.subf %1, %0 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// Flat blocks of a parameter land in the full tensor's own buffer; the new block
// is written where the old one was.
// CHECK-LABEL: exec.program @flat
// CHECK-DAG:   exec.buffer @[[FULL:[a-z0-9]+]] at {{[0-9]+}} bytes 36 live 0 to 1 category gathered name "w@2"
// CHECK-DAG:   %[[W:[0-9]+]] = exec.ref @w + 0 : <5xf32, [1]>
// CHECK-DAG:   %[[F:[0-9]+]] = exec.ref @[[FULL]] + 0 : <3x3xf32, [3, 1]>
// CHECK:       comm.all_gather %[[W]] outs(%[[F]] : !exec.ref<3x3xf32, [3, 1]>) dims [flat] over @mesh {dp}
// CHECK-NEXT:  exec.matmul "bi,oi->bo"(%{{[0-9]+}}, %[[F]])
// CHECK:       comm.reduce_scatter sum %{{[0-9]+}} outs(%[[D:[0-9]+]] : !exec.ref<5xf32, [1]>) dims [flat] over @mesh {dp}
// CHECK-NEXT:  exec.kernel {{.*}}(%[[W]], %[[D]]) outs(%[[W]] :
// CHECK-NOT:   "copy"
func.func @flat(%w: tensor<5xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, comm.global = tensor<3x3xf32>},
                %x: tensor<2x3xf32> {tg.input = "x"}) -> (tensor<5xf32> {tg.updates = "w", comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, comm.global = tensor<3x3xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = comm.all_gather %w dims [flat] over @mesh {dp} : (tensor<5xf32>) -> tensor<3x3xf32>
  %1 = exec.matmul "bi,oi->bo"(%x, %0) : tensor<2x3xf32>, tensor<3x3xf32> -> tensor<2x3xf32>
  %2 = exec.matmul "bi,bo->io"(%x, %1) : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<3x3xf32>
  %3 = comm.reduce_scatter sum %2 dims [flat] over @mesh {dp} : (tensor<3x3xf32>) -> tensor<5xf32>
  %4 = arith.subf %w, %3 : tensor<5xf32>
  return %4 : tensor<5xf32>
}

// A strided operand is copied first, and the copy says so; rows of a tensor are not.
// CHECK-LABEL: exec.program @strided
// CHECK-DAG:   exec.buffer {{.*}} name "all_gather operand 1, made contiguous"
// CHECK-DAG:   %[[ROWS:[0-9]+]] = exec.ref @{{.*}} + 64 : <2x8xf32, [8, 1]>
// CHECK-DAG:   %[[COLUMNS:[0-9]+]] = exec.ref @{{.*}} + 0 : <4x4xf32, [8, 1]>
// CHECK:       exec.kernel "copy"(%[[COLUMNS]]) outs(%[[C:[0-9]+]] :
// CHECK-NOT:   "copy"
// CHECK:       comm.all_gather %[[ROWS]], %[[C]] outs(
func.func @strided(%x: tensor<4x8xf32> {tg.input = "x"}) -> (tensor<4x8xf32> {tg.output = "y"}, tensor<8x4xf32> {tg.output = "z"})
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = exec.view %x offset 16 strides [8, 1] : tensor<4x8xf32> -> tensor<2x8xf32>
  %1 = exec.view %x offset 0 strides [8, 1] : tensor<4x8xf32> -> tensor<4x4xf32>
  %2, %3 = comm.all_gather %0, %1 dims [0, 0] over @mesh {dp} : (tensor<2x8xf32>, tensor<4x4xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>)
  return %2, %3 : tensor<4x8xf32>, tensor<8x4xf32>
}

// Columns of a concat are strided, which no collective writes: they are copied
// there.  Rows are written in place.
// CHECK-LABEL: exec.program @concats
// CHECK-DAG:   %[[LEFT:[0-9]+]] = exec.ref @{{.*}} + 0 : <2x4xf32, [8, 1]>
// CHECK-DAG:   %[[BELOW:[0-9]+]] = exec.ref @{{.*}} + 32 : <2x4xf32, [4, 1]>
// CHECK:       comm.all_reduce sum %{{[0-9]+}} outs(%[[A:[0-9]+]] : !exec.ref<2x4xf32, [4, 1]>)
// CHECK:       exec.kernel "copy"(%[[A]]) outs(%[[LEFT]] :
// CHECK:       comm.all_reduce max %{{[0-9]+}} outs(%[[BELOW]] :
func.func @concats(%x: tensor<2x4xf32> {tg.input = "x"}) -> (tensor<2x8xf32> {tg.output = "y"}, tensor<4x4xf32> {tg.output = "z"})
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = comm.all_reduce sum %x over @mesh {dp} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = math.exp %x : tensor<2x4xf32>
  %2 = exec.concat %0, %1 dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %3 = comm.all_reduce max %x over @mesh {dp} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = math.tanh %x : tensor<2x4xf32>
  %5 = exec.concat %4, %3 dim 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %2, %5 : tensor<2x8xf32>, tensor<4x4xf32>
}

// From start (action 1) to wait (action 3) the operand lives and is not overwritten,
// not by the tanh that could; the result's memory lives from the start.
// CHECK-LABEL: exec.program @start
// CHECK-DAG:   exec.buffer @[[E:[a-z0-9]+]] at {{[0-9]+}} bytes 128 live 0 to 3 {{.*}} name "exp"
// CHECK-DAG:   exec.buffer @[[R:[a-z0-9]+]] at {{[0-9]+}} bytes 64 live 1 to 6 {{.*}} name "y"
// CHECK-DAG:   %[[OPERAND:[0-9]+]] = exec.ref @[[E]] + 0
// CHECK-DAG:   %[[SUM:[0-9]+]] = exec.ref @[[R]] + 0
// CHECK:       exec.kernel "exp"(%{{[0-9]+}}) outs(%[[OPERAND]] :
// CHECK:       %[[T:[0-9]+]] = comm.start {
// CHECK-NEXT:    comm.reduce_scatter sum %[[OPERAND]] outs(%[[SUM]] : !exec.ref<2x8xf32, [8, 1]>) dims [0] over @mesh {dp}
// CHECK-NEXT:  } : !comm.ticket<>
// CHECK-NEXT:  exec.kernel "tanh"(%[[OPERAND]]) outs(%[[H:[0-9]+]] :
// CHECK:       comm.wait %[[T]] : !comm.ticket<>
// CHECK:       exec.kernel "sin"(%[[SUM]]) outs(%[[SUM]] :
// CHECK:       exec.kernel "cos"(%[[H]]) outs(
func.func @start(%x: tensor<4x8xf32> {tg.input = "x"})
    -> (tensor<2x8xf32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<4x8xf32>}, tensor<4x8xf32> {tg.output = "z"})
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = math.exp %x : tensor<4x8xf32>
  %t = comm.start {
    %r = comm.reduce_scatter sum %0 dims [0] over @mesh {dp} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  } : !comm.ticket<tensor<2x8xf32>>
  %1 = math.tanh %0 : tensor<4x8xf32>
  %2 = comm.wait %t : !comm.ticket<tensor<2x8xf32>> -> tensor<2x8xf32>
  %3 = math.sin %2 : tensor<2x8xf32>
  %4 = math.cos %1 : tensor<4x8xf32>
  return %3, %4 : tensor<2x8xf32>, tensor<4x8xf32>
}

// Started, too, the sum is written over an operand that dies in it, and into the
// memory of the program's result.
// CHECK-LABEL: exec.program @start_in_place
// CHECK:       comm.all_reduce sum %[[Y:[0-9]+]], %[[Z:[0-9]+]] outs(%[[Y]], %[[Z]] :
// CHECK:       comm.wait
func.func @start_in_place(%x: tensor<4x8xf32> {tg.input = "x"}) -> (tensor<4x8xf32> {tg.output = "y"}, tensor<4x8xf32> {tg.output = "z"})
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = math.exp %x : tensor<4x8xf32>
  %1 = math.tanh %x : tensor<4x8xf32>
  %t = comm.start {
    %r:2 = comm.all_reduce sum %0, %1 over @mesh {dp} : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  } : !comm.ticket<tensor<4x8xf32>, tensor<4x8xf32>>
  %2:2 = comm.wait %t : !comm.ticket<tensor<4x8xf32>, tensor<4x8xf32>> -> tensor<4x8xf32>, tensor<4x8xf32>
  return %2#0, %2#1 : tensor<4x8xf32>, tensor<4x8xf32>
}
