/** The results of benchmarks/manager.ts as one picture: what our manager takes of what the other one takes, release by release. */
import { FIGURES, ratioOf } from '../../benchmarks/load/manager-results.ts'
import type { Figure, ManagerResults } from '../../benchmarks/load/manager-results.ts'

const WIDTH = 860
const LEFT = 210
const RIGHT = 70
const TOP = 92
const ROW = 22
const PHASE_GAP = 14
const BOTTOM = 64
/** Ratios beyond it are drawn at the edge, with their number. */
const MOST = 2
const STEP = 0.5

const PHASES: Readonly<Record<string, string>> = {
  start: 'Start on an empty cluster',
  idle: 'Idle',
  create: 'Create',
  halve: 'Halve',
  restart: 'Restart on what is there',
  empty: 'Empty the namespace',
}
const WORDS: Partial<Record<Figure, string>> = {
  seconds: 'seconds',
  cpuSeconds: 'CPU',
  requests: 'requests',
  residentMebibytes: 'memory after it',
  peakMebibytes: 'peak memory',
}
/** Its seconds are how long the script waits, and its requests are the script's own question. */
const IDLE: readonly Figure[] = ['cpuSeconds', 'residentMebibytes']
const WORKING: readonly Figure[] = ['seconds', 'cpuSeconds', 'requests', 'peakMebibytes']

const xOf = (ratio: number): number =>
  LEFT + (Math.min(ratio, MOST) / MOST) * (WIDTH - LEFT - RIGHT)

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** An SVG document. `releases`: the oldest first; those without another manager beside them are left out. */
export function managerChart(releases: readonly ManagerResults[]): string {
  const compared = releases.filter(({ theirs }) => theirs !== undefined)
  const newest = compared.at(-1)
  const body: string[] = []
  let y = TOP
  for (const { name } of newest?.ours ?? []) {
    body.push(text(16, y + 4, PHASES[name] ?? name, 'phase'))
    y += ROW
    for (const { figure } of FIGURES) {
      if (!(name === 'idle' ? IDLE : WORKING).includes(figure)) continue
      body.push(...rowOf(compared, name, figure, y))
      y += ROW
    }
    y += PHASE_GAP
  }
  const height = y + BOTTOM
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">`,
    '<title id="title">What the controller manager takes of what kube-controller-manager takes</title>',
    STYLE,
    `<rect class="paper" width="${WIDTH}" height="${height}" rx="8"/>`,
    text(16, 30, 'What ours takes of what kube-controller-manager takes', 'title'),
    text(16, 52, subtitleOf(newest), 'note'),
    ...axis(y),
    ...body,
    text(16, height - 20, legendOf(compared), 'note'),
    '</svg>',
    '',
  ].join('\n')
}

function subtitleOf(newest: ManagerResults | undefined): string {
  if (newest === undefined) return 'Nothing is measured yet.'
  const { deployments, replicas, rounds, machine } = newest
  return `${deployments} Deployments x ${replicas}, all controllers on, the same kube-apiserver in turns, median of ${rounds}; ${machine.cores} cores of ${machine.model}, load ${machine.load}`
}

function legendOf(compared: readonly ManagerResults[]): string {
  const [oldest] = compared
  const newest = compared.at(-1)
  if (oldest === undefined || newest === undefined) return ''
  const last = `${newest.version} of ${newest.date}`
  return compared.length === 1
    ? `Release ${last}. Left of the line is less.`
    : `Full dots: ${last}; rings: releases before it, from ${oldest.version} on. Left of the line is less.`
}

function axis(endY: number): string[] {
  const lines: string[] = []
  for (let ratio = 0; ratio <= MOST; ratio += STEP) {
    const x = xOf(ratio)
    const kind = ratio === 1 ? 'same' : 'grid'
    lines.push(
      `<line class="${kind}" x1="${x}" y1="${TOP - 14}" x2="${x}" y2="${endY - PHASE_GAP}"/>`,
    )
    lines.push(text(x, TOP - 20, ratio === 1 ? 'the same' : String(ratio), 'tick'))
  }
  return lines
}

function rowOf(
  compared: readonly ManagerResults[],
  phase: string,
  figure: Figure,
  y: number,
): string[] {
  const ratios = compared.map((release) => ratioOf(release, phase, figure))
  const now = ratios.at(-1)
  const row = [text(LEFT - 16, y + 4, WORDS[figure] ?? figure, 'figure')]
  if (now === undefined) return row
  const kind = now <= 1 ? 'less' : 'more'
  row.push(`<line class="bar ${kind}" x1="${xOf(1)}" y1="${y}" x2="${xOf(now)}" y2="${y}"/>`)
  for (const ratio of ratios.slice(0, -1)) {
    if (ratio !== undefined) row.push(`<circle class="before" cx="${xOf(ratio)}" cy="${y}" r="4"/>`)
  }
  row.push(`<circle class="${kind}" cx="${xOf(now)}" cy="${y}" r="5"/>`)
  row.push(text(WIDTH - 24, y + 4, now.toFixed(2), 'number'))
  return row
}

function text(x: number, y: number, content: string, kind: string): string {
  return `<text class="${kind}" x="${x}" y="${y}">${escaped(content)}</text>`
}

const STYLE = `<style>
  .paper { fill: #ffffff }
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 17px; font-weight: 600 }
  .phase { font-weight: 600 }
  .note { font-size: 12px; fill: #57606a }
  .tick { font-size: 11px; fill: #57606a; text-anchor: middle }
  .figure, .number { text-anchor: end }
  .number { font-variant-numeric: tabular-nums }
  .grid { stroke: #d8dee4 }
  .same { stroke: #57606a; stroke-width: 1.5 }
  .bar { stroke-width: 3 }
  line.less { stroke: #2da44e } circle.less { fill: #2da44e }
  line.more { stroke: #d4731a } circle.more { fill: #d4731a }
  .before { fill: none; stroke: #8c959f; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } text { fill: #e6edf3 } .note, .tick { fill: #9198a1 }
    .grid { stroke: #30363d } .same { stroke: #9198a1 }
  }
</style>`
