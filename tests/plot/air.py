"""A client on two wireless networks, one of them with another station and packets that are given
up.
"""

UPLINK = """
name = "uplink"
duration = "6 s"
warmup = "2 s"

[[medium]]
name = "one"
standard = "a"
attempts = 2
station = [{ name = "ap1", queue = { droptail = { packets = "50 packets" } } }]

[[medium]]
name = "two"
standard = "g"

[[link]]
name = "up1"
medium = "one"
from = "client"
to = "ap1"
delay = "4 ms"
[[link]]
name = "down1"
medium = "one"
from = "ap1"
to = "client"
delay = "4 ms"
[[link]]
name = "other1"
medium = "one"
from = "other"
to = "ap1"
delay = "4 ms"
[[link]]
name = "back1"
medium = "one"
from = "ap1"
to = "other"
delay = "4 ms"
[[link]]
name = "up2"
medium = "two"
from = "client"
to = "ap2"
delay = "6 ms"
[[link]]
name = "down2"
medium = "two"
from = "ap2"
to = "client"
delay = "6 ms"
[[link]]
name = "unused"
medium = "two"
from = "silent"
to = "ap2"

[[flow]]
name = "mptcp"
controller = "lia"
path = [{ links = ["up1"], back = ["down1"] }, { links = ["up2"], back = ["down2"] }]
[[flow]]
name = "single"
path = [{ links = ["other1"], back = ["back1"] }]
"""
