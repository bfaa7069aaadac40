# cmake -DTEXT=FILE -DINTO=FILE -P Embed.cmake: a text as a string literal of C++.
file(READ ${TEXT} text)
file(WRITE ${INTO} "R\"embedded(${text})embedded\"\n")
