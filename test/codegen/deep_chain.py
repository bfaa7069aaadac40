"""Prints a graph of a chain of sums, each of which reads the one before it twice."""

LENGTH = 200

print("""module {
  func.func @model(%w: tensor<8x64xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "w">},
                   %x: tensor<8x64xi32> {tg.input = "x", tg.role = #tg.role<features>})
      -> (tensor<f32> {tg.role = #tg.role<loss>}) {
    %five = arith.constant dense<5> : tensor<8x64xi32>""")
last = "%x"
for number in range(LENGTH):
    print(f"    %l{number} = arith.shli {last}, %five : tensor<8x64xi32>")
    print(f"    %s{number} = arith.xori {last}, %l{number} : tensor<8x64xi32>")
    last = f"%s{number}"
print(f"""    %f = tg.convert {last} : tensor<8x64xi32> -> tensor<8x64xf32>
    %p = arith.mulf %w, %f : tensor<8x64xf32>
    %loss = tg.reduce mean %p dims [0, 1] : tensor<8x64xf32> -> tensor<f32>
    return %loss : tensor<f32>
  }}
}}""")
