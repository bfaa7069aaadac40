// Collectives and copies of every element type, those that no kernel computes among them.
// RUN: braid-opt %s --exec-form-kernels --exec-plan-memory --exec-verify-memory -o %t.mlir
// RUN: braidc %t.mlir -o %t.exe
// RUN: %t.exe run --program floats --outputs %t.st --threads 2 && braid-interp %s --function=floats --inputs=%t.st --expect=%t.st
// RUN: %t.exe run --program integers --outputs %t.st --threads 2 && braid-interp %s --function=integers --inputs=%t.st --expect=%t.st
// RUN: %t.exe run --program bits --outputs %t.st --threads 2 && braid-interp %s --function=bits --inputs=%t.st --expect=%t.st

comm.mesh @mesh [dp = 3]

func.func @floats(%x: tensor<2x5xf64> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<6x5xf64>},
                  %h: tensor<2x5xbf16> {tg.input = "h", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<6x5xbf16>})
    -> (tensor<2x5xf64> {tg.output = "mean"}, tensor<2x5xbf16> {tg.output = "least"},
        tensor<4xf64> {tg.output = "range", comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, comm.global = tensor<2x5xf64>},
        tensor<6x5xbf16> {tg.output = "rows"}, tensor<2x15xf64> {tg.output = "columns"},
        tensor<4xbf16> {tg.output = "part", comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, comm.global = tensor<2x5xbf16>})
    attributes {comm.program = #comm.program<@mesh>} {
  %mean = comm.all_reduce mean %x over @mesh {dp} : (tensor<2x5xf64>) -> tensor<2x5xf64>
  %least = comm.all_reduce min %h over @mesh {dp} : (tensor<2x5xbf16>) -> tensor<2x5xbf16>
  %range = comm.reduce_scatter max %x dims [flat] over @mesh {dp} : (tensor<2x5xf64>) -> tensor<4xf64>
  %rows = comm.all_gather %h dims [0] over @mesh {dp} : (tensor<2x5xbf16>) -> tensor<6x5xbf16>
  %columns = comm.all_gather %x dims [1] over @mesh {dp} : (tensor<2x5xf64>) -> tensor<2x15xf64>
  %part = comm.slice %least dim flat over @mesh {dp} : tensor<2x5xbf16> -> tensor<4xbf16>
  return %mean, %least, %range, %rows, %columns, %part
      : tensor<2x5xf64>, tensor<2x5xbf16>, tensor<4xf64>, tensor<6x5xbf16>, tensor<2x15xf64>, tensor<4xbf16>
}

func.func @integers(%i: tensor<7xi32> {tg.input = "i", comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<21xi32>},
                    %l: tensor<3x6xi64> {tg.input = "l", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<9x6xi64>})
    -> (tensor<7xi32> {tg.output = "sum"}, tensor<9x2xi64> {tg.output = "exchanged", comm.sharding = #comm.sharding<@mesh, {} {dp}>, comm.global = tensor<9x6xi64>},
        tensor<3x6xi64> {tg.output = "passed", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<9x6xi64>},
        tensor<21xi32> {tg.output = "again"})
    attributes {comm.program = #comm.program<@mesh>} {
  %sum = comm.all_reduce sum %i over @mesh {dp} : (tensor<7xi32>) -> tensor<7xi32>
  %exchanged = comm.all_to_all %l split [1] concat [0] over @mesh {dp} : (tensor<3x6xi64>) -> tensor<9x2xi64>
  %passed = comm.permute %l pairs [0 -> 1, 1 -> 2] over @mesh {dp} : (tensor<3x6xi64>) -> tensor<3x6xi64>
  %next = comm.permute %i pairs [1 -> 0, 2 -> 1, 0 -> 2] over @mesh {dp} : (tensor<7xi32>) -> tensor<7xi32>
  %last = comm.permute %next pairs [1 -> 0, 2 -> 1, 0 -> 2] over @mesh {dp} : (tensor<7xi32>) -> tensor<7xi32>
  %again = comm.assemble %i, %next, %last dim 0 shifts [0, 1, 2] over @mesh {dp} : (tensor<7xi32>, tensor<7xi32>, tensor<7xi32>) -> tensor<21xi32>
  return %sum, %exchanged, %passed, %again : tensor<7xi32>, tensor<9x2xi64>, tensor<3x6xi64>, tensor<21xi32>
}

func.func @bits(%b: tensor<6x3xi1> {tg.input = "b", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<18x3xi1>})
    -> (tensor<6x3xi1> {tg.output = "any"}, tensor<6x3xi1> {tg.output = "first"},
        tensor<6x1xi1> {tg.output = "column", comm.sharding = #comm.sharding<@mesh, {} {dp}>, comm.global = tensor<6x3xi1>})
    attributes {comm.program = #comm.program<@mesh>} {
  %any = comm.all_reduce max %b over @mesh {dp} : (tensor<6x3xi1>) -> tensor<6x3xi1>
  %first = comm.broadcast %b root 2 over @mesh {dp} : (tensor<6x3xi1>) -> tensor<6x3xi1>
  %column = comm.slice %any dim 1 over @mesh {dp} : tensor<6x3xi1> -> tensor<6x1xi1>
  return %any, %first, %column : tensor<6x3xi1>, tensor<6x3xi1>, tensor<6x1xi1>
}
