import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOff, nextChangeMs, outagesOf } from './node-document.ts'
import type { Outage } from './node-document.ts'

const CREATED_MS = Date.UTC(2026, 0, 1)

function read(text: string | undefined): { outages: readonly Outage[]; problems: string[] } {
  const annotations = text === undefined ? undefined : { 'sim.kubelet/node': text }
  const problems: string[] = []
  const metadata = { name: 'n', creationTimestamp: '2026-01-01T00:00:00Z', annotations }
  return { outages: outagesOf({ metadata }, (problem) => problems.push(problem)), problems }
}

const EVER = { fromMs: -Infinity, untilMs: Infinity }
const at = (seconds: number): number => CREATED_MS + seconds * 1000

const usable: readonly (readonly [string | undefined, readonly Outage[]])[] = [
  [undefined, []],
  ['{}', []],
  ['stopped: false', []],
  ['stopped: true', [EVER]],
  ['{"stopped": true}', [EVER]],
  ['stopped: {from: 1m}', [{ fromMs: at(60), untilMs: Infinity }]],
  ['stopped: {until: 1m30s}', [{ fromMs: -Infinity, untilMs: at(90) }]],
  [
    'stopped: {from: "2026-01-01T00:00:10Z", until: "2026-01-01T00:00:20Z"}',
    [{ fromMs: at(10), untilMs: at(20) }],
  ],
  ['stopped: {from: 2026-01-01T00:00:10Z, until: 20s}', [{ fromMs: at(10), untilMs: at(20) }]],
  [
    'stopped: [{from: 10s, until: 20s}, {from: 1m}]',
    [
      { fromMs: at(10), untilMs: at(20) },
      { fromMs: at(60), untilMs: Infinity },
    ],
  ],
]
for (const [text, outages] of usable)
  test(`${text}: when the machine is off`, () =>
    assert.deepEqual(read(text), { outages, problems: [] }))

const PREFIX = 'annotation sim.kubelet/node'
const unusable: readonly (readonly [string, string])[] = [
  ['just text', `${PREFIX} is no YAML or JSON object`],
  ['- a', `${PREFIX} is no YAML or JSON object`],
  ['stoped: true', `${PREFIX} has a field stoped that is not known: did you mean stopped?`],
  ['stopped: soon', `${PREFIX} cannot be used: stopped is "soon" and not true, or from and until`],
  [
    'stopped: {from: soon}',
    `${PREFIX} cannot be used: "soon" is neither a time nor a duration such as 1m30s`,
  ],
  [
    'stopped: {from: 1s, until: 7}',
    `${PREFIX} cannot be used: 7 is neither a time nor a duration such as 1m30s`,
  ],
  [
    'stopped: {from: -5s}',
    `${PREFIX} cannot be used: "-5s" is neither a time nor a duration such as 1m30s`,
  ],
]
for (const [text, problem] of unusable)
  test(`${text}: is told, and stops nothing`, () =>
    assert.deepEqual(read(text), { outages: [], problems: [problem] }))

test('what is no YAML is told', () => {
  const { outages, problems } = read('{stopped: ')
  assert.deepEqual(outages, [])
  assert.match(problems.join(), /^annotation sim.kubelet\/node cannot be read: /)
})

test('an outage that can be used counts beside one that cannot', () => {
  const { outages, problems } = read('stopped: [{from: 1s}, soon]')
  assert.deepEqual([outages.length, problems.length], [1, 1])
})

const OUTAGES = [
  { fromMs: 10, untilMs: 20 },
  { fromMs: 15, untilMs: 30 },
  { fromMs: 50, untilMs: Infinity },
]
const moments: readonly (readonly [number, boolean, number | undefined])[] = [
  [0, false, 10],
  [9, false, 10],
  [10, true, 15],
  [19, true, 20],
  [20, true, 30],
  [29, true, 30],
  [30, false, 50],
  [50, true, undefined],
  [99, true, undefined],
]
for (const [nowMs, off, nextMs] of moments)
  test(`at ${nowMs} the machine is ${off ? 'off' : 'on'}, and that may change at ${nextMs}`, () => {
    assert.equal(isOff(OUTAGES, nowMs), off)
    assert.equal(nextChangeMs(OUTAGES, nowMs), nextMs)
  })

test('a machine without outages is on for ever', () => {
  assert.deepEqual([isOff([], 0), nextChangeMs([], 0)], [false, undefined])
  assert.deepEqual([isOff([EVER], 0), nextChangeMs([EVER], 0)], [true, undefined])
})
