(()=>{"use strict";
const d=document,main=d.querySelector("main"),all=[...main.querySelectorAll("article")],folds=[...main.querySelectorAll("article details")];
if(!all.length)return;
const make=(name,text,parent)=>{const e=d.createElement(name);e.textContent=text;parent.append(e);return e};
const bar=d.createElement("div");bar.className="bar";bar.setAttribute("role","search");
const box=d.createElement("input");box.type="search";box.placeholder="Filter: text, role:user, tool:Bash";box.setAttribute("aria-label","Filter messages");bar.append(box);
const found=make("output","",bar);
const open=make("button","Open all",bar),close=make("button","Close all",bar);
main.before(bar);
let texts=null,timer=0;
const shows=(e,i,words)=>words.every(w=>{
if(w.startsWith("role:"))return e.querySelector("h2").textContent.toLowerCase().startsWith(w.slice(5));
if(w.startsWith("tool:"))return[...e.querySelectorAll("[data-tool]")].some(t=>t.dataset.tool.toLowerCase().startsWith(w.slice(5)));
return texts[i].includes(w)});
const filter=()=>{
const words=box.value.toLowerCase().split(/\s+/).filter(Boolean);
texts=texts||all.map(e=>e.textContent.toLowerCase());
let n=0;
all.forEach((e,i)=>{const s=shows(e,i,words);e.hidden=!s;n+=s});
found.textContent=words.length?n+" of "+all.length:""};
box.addEventListener("input",()=>{clearTimeout(timer);timer=setTimeout(filter,80)});
const fold=is=>folds.forEach(f=>{f.open=is});
open.onclick=()=>fold(true);close.onclick=()=>fold(false);
let opened=[];
addEventListener("beforeprint",()=>{opened=folds.filter(f=>!f.open);opened.forEach(f=>{f.open=true})});
addEventListener("afterprint",()=>{opened.forEach(f=>{f.open=false})});
const step=by=>{
const seen=all.filter(e=>!e.hidden);
let at=seen.findIndex(e=>e.getBoundingClientRect().bottom>bar.offsetHeight+20);
if(at<0)at=seen.length-1;
const top=seen[at]&&seen[at].getBoundingClientRect().top;
if(by>0){if(top<bar.offsetHeight+40)at++}else at--;
const to=seen[Math.max(0,Math.min(at,seen.length-1))];
if(to){to.scrollIntoView();to.tabIndex=-1;to.focus({preventScroll:true})}};
d.addEventListener("keydown",e=>{
if(e.ctrlKey||e.metaKey||e.altKey)return;
if(e.target===box){if(e.key==="Escape"){box.value="";filter();box.blur()}return}
if(e.key==="/"){e.preventDefault();box.focus()}
else if(e.key==="j")step(1);else if(e.key==="k")step(-1)});
const hash=()=>{const t=d.getElementById(location.hash.slice(1));if(t&&t.tagName==="DETAILS")t.open=true};
addEventListener("hashchange",hash);hash();
})();
