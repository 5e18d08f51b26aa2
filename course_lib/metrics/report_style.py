"""The page around the numbers of `course score`: its look, light and dark, from the width of a telephone."""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Scores of @file@</title><style>
:root { --ground: #FBFAF7; --ink: #22272E; --soft: #5D646E; --line: #D6D2C8; --a: #0067A1; --b: #A84A00 }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14181E; --ink: #E6E3DC; --soft: #A9B2BC; --line: #39424C; --a: #56B4E9; --b: #F0A04B }
}
* { box-sizing: border-box }
body { background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 68rem; overflow-wrap: break-word; padding: 1rem }
h1 { font-size: 1.6rem; line-height: 1.2 } h2 { font-size: 1.25rem; margin-top: 2rem } h3 { font-size: 1rem; margin: 0 }
main > section { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)) }
article { border: 1px solid var(--line); border-radius: .4rem; padding: .8rem 1rem }
article > p { margin: .4rem 0 0 } .value { font-size: 1.7rem; font-variant-numeric: tabular-nums; margin: 0 }
dl { display: grid; gap: 0 .8rem; grid-template-columns: auto 1fr; margin: .3rem 0 } dd { margin: 0 }
dt, small, .chapter, .note { color: var(--soft); font-size: .875rem } .chapter { white-space: nowrap }
svg { display: block; margin: .3rem 0; width: 100% }
.axis { fill: none; stroke: var(--soft) } .reach { stroke: var(--a); stroke-width: 4 } circle { fill: var(--a) }
.chance { stroke: var(--b); stroke-width: 2 }
.box { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: right } thead th { font-weight: 600 }
tbody td { background: color-mix(in srgb, var(--a) var(--share), var(--ground)) }
@media print { article { break-inside: avoid } }
</style></head><body><main>
<h1>Scores of @file@</h1>
<p>@facts@</p>
@warnings@
<h2>Scores</h2>
<p class="note">@notes@ On each line: the dot is the value, the bar its interval, the stroke the shuffled value.</p>
<section>
@scores@</section>
@left_out@
<h2>Mutual information, in nats</h2>
<div class="box" tabindex="0" role="region" aria-label="Mutual information of latents and factors">@matrix@</div>
</main></body></html>
"""
