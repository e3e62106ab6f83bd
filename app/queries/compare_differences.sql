select * from differences($one, $other)
