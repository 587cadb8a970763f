"""The weights of every head as one self-contained page: pictures as data URIs, no network, light and dark.

Without scripts the page shows the pictures of all heads. With them a click enlarges a head, pointing at it names the
two tokens and the weight, and pointing at a token of the text shows whom it looks at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from embcli.artifacts.schema import Context
from embcli.report.heads_svg import NOTE
from embcli.report.png import COLOR, data_uri

#: tokens of a text whose enlarged heads have labels at their sides; longer ones are pointed at
_LABELLED = 48
_STYLE = """
:root{color-scheme:light dark;--page:#fff;--ink:#1f2328;--soft:#59636e;--line:#d1d9e0}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--ink:#e6edf3;--soft:#9198a1;--line:#3d444d}}
body{margin:1.5rem;background:var(--page);color:var(--ink);font:14px/1.5 system-ui,sans-serif}
h1{font-size:1.3rem}h2{font-size:1.05rem;margin:1.5rem 0 .3rem}p{color:var(--soft);max-width:70ch;margin:.3rem 0}
.heads{display:grid;gap:8px;justify-content:start;overflow-x:auto}
figure{margin:0;cursor:pointer}figcaption{font-size:12px;color:var(--soft)}
img,canvas{image-rendering:pixelated;border:1px solid var(--line)}figure img{width:112px;height:112px;display:block}
figure.on img{outline:2px solid rgb(COLOR)}canvas{width:100%;height:100%;display:block;box-sizing:border-box}
.map{--side:min(640px,74vw);display:none;grid-template:auto var(--side)/auto var(--side);gap:4px;justify-content:start}
.map div{display:grid;font:12px/1 ui-monospace,monospace;color:var(--soft);overflow:hidden}
.map .cols{grid-column:2;grid-auto-flow:column;grid-auto-columns:1fr;align-items:end;max-height:9rem}
.map .rows{grid-column:1;grid-auto-rows:1fr;align-items:center;text-align:right;max-width:9rem}
.map .cols span{writing-mode:vertical-rl;transform:rotate(180deg);justify-self:center}
.said{min-height:1.6em;font-family:ui-monospace,monospace}
.text{font-family:ui-monospace,monospace;max-width:100ch}.text span{padding:1px 3px;border-radius:3px;cursor:default}
.text span.from{outline:1px solid var(--ink)}
"""
_SCRIPT = """
const texts=JSON.parse(document.getElementById('tokens').textContent),color='COLOR';
document.querySelectorAll('section').forEach((section,n)=>{
 const words=texts[n],T=words.length,canvas=section.querySelector('canvas'),said=section.querySelector('.said');
 const map=section.querySelector('.map');
 if(T<=LABELLED)for(const side of map.querySelectorAll('div'))for(const word of words){
  const label=document.createElement('span');label.textContent=word;side.append(label)}
 const spans=[...section.querySelectorAll('.text span')],figures=[...section.querySelectorAll('figure')];
 let weights=null,name='';
 const at=(i,j)=>{const a=weights[4*(i*T+j)+3]/255;return a*a};
 const pick=figure=>{
  const image=figure.querySelector('img');
  figures.forEach(f=>f.classList.toggle('on',f===figure));name=figure.querySelector('figcaption').textContent;
  const draw=()=>{canvas.width=canvas.height=T;const c=canvas.getContext('2d',{willReadFrequently:true});
   c.clearRect(0,0,T,T);c.drawImage(image,0,0);weights=c.getImageData(0,0,T,T).data;map.style.display='grid';
   said.textContent=name};
  if(image.complete)draw();else image.onload=draw};
 const look=i=>spans.forEach((s,j)=>{s.classList.toggle('from',i===j);
  s.style.background=i===null?'':`rgb(${color} / ${Math.sqrt(at(i,j)).toFixed(3)})`});
 figures.forEach(f=>f.onclick=()=>pick(f));
 canvas.onmousemove=e=>{const r=canvas.getBoundingClientRect();
  const place=(x,size)=>Math.min(T-1,Math.floor(x/size*T));
  const i=place(e.clientY-r.top,r.height),j=place(e.clientX-r.left,r.width);
  if(i<0||j<0)return;
  look(i);said.textContent=`${name}: ${i+1} ${words[i]} \\u2192 ${j+1} ${words[j]}: ${at(i,j).toFixed(3)}`};
 canvas.onmouseleave=()=>{look(null);said.textContent=name};
 spans.forEach((s,i)=>{s.onmouseenter=()=>weights&&look(i);s.onmouseleave=()=>weights&&look(null)});
 if(T&&figures.length)pick(figures[0]);
});
"""


def heads_html(context: Context, labels: Sequence[str]) -> Iterator[str]:
    """Yield the page piece by piece. ``labels`` is the word of each token; markup in them is escaped."""
    color = " ".join(map(str, COLOR))
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Attention weights</title>'
    yield f"<style>{_STYLE.replace('COLOR', color)}</style></head>\n<body><h1>Attention weights</h1>"
    yield f"<p>{NOTE}</p><p>A token row is the same wherever its token stands; a contextual state is not.</p>\n"
    spans = [(int(context.text_offsets[i]), int(context.text_offsets[i + 1])) for i in range(context.texts)]
    for text, (start, stop) in enumerate(spans):
        yield from _section(context.text_at(text)[1], labels[start:stop], text + 1)
    yield f'<script type="application/json" id="tokens">{_json([list(labels[a:b]) for a, b in spans])}</script>\n'
    script = _SCRIPT.replace("COLOR", color).replace("LABELLED", str(_LABELLED))
    yield f"<script>{script}</script></body></html>\n"


def _section(weights: Any, labels: Sequence[str], number: int) -> Iterator[str]:
    layers, heads, T = weights.shape[:3]
    yield f"<section><h2>Text {number}: {T} tokens</h2>\n"
    words = " ".join(f"<span>{escape(label)}</span>" for label in labels)
    yield f'<p class="text">{words}</p>'
    yield f'<div class="heads" style="grid-template-columns:repeat({max(heads, 1)},112px)">\n'
    for layer in range(layers):
        for head in range(heads):
            what = f"layer {layer + 1}, head {head + 1}"
            source = data_uri(weights[layer, head])
            yield f'<figure><img alt="weights of {what}" width="112" height="112" src="{source}">'
            yield f"<figcaption>{what}</figcaption></figure>\n"
    yield '</div><p class="said"></p><div class="map"><div class="cols"></div><div class="rows"></div>'
    yield "<canvas></canvas></div></section>\n"


def _json(value: Any) -> str:
    """Return JSON that a script element can hold: nothing in it ends the element or a line."""
    text = json.dumps(value, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
