import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonLogger, klogLogger } from './klog.ts'
import type { LogFields, Logger } from './logging.ts'
import { virtualClock } from './testing/index.ts'

const START_MS = Date.UTC(2026, 10, 21, 2, 32, 17, 123)

function recorded(
  make: typeof klogLogger,
  verbosity = 0,
  options: { source?: string; utcOffsetMinutes?: () => number } = { source: 'file.go' },
): { lines: string[]; logger: Logger } {
  const lines: string[] = []
  const write = (line: string): void => void lines.push(line)
  return {
    lines,
    logger: make({ clock: virtualClock(START_MS), write, verbosity, processId: 12345, ...options }),
  }
}

test('a text line has severity, date, time with microseconds, process, source, quoted message and key="value"', () => {
  const { lines, logger } = recorded(klogLogger)
  logger.info('Starting', { controller: 'job', workers: 5 })
  assert.deepEqual(lines, [
    'I1121 02:32:17.123000   12345 file.go:1] "Starting" controller="job" workers=5\n',
  ])
})

test('lines that tell of no error may go elsewhere', () => {
  for (const make of [klogLogger, jsonLogger]) {
    const [lines, info]: [string[], string[]] = [[], []]
    const logger = make({
      clock: virtualClock(START_MS),
      write: (line) => void lines.push(line),
      writeInfo: (line) => void info.push(line),
    })
    logger.info('told')
    logger.named('n').error(new Error('broken'), 'failed')
    assert.deepEqual([lines.length, info.length], [1, 1])
    assert.match(info[0]!, /told/)
    assert.match(lines[0]!, /failed/)
  }
})

const VALUES: [string, unknown, string][] = [
  ['string', 'a "quoted" one', '"a \\"quoted\\" one"'],
  ['control characters', 'bell\u0007 esc\u001b tab\t', '"bell\\a esc\\x1b tab\\t"'],
  ['a backslash before u', String.raw`\u0007`, String.raw`"\\u0007"`],
  ['several lines', 'one\ntwo', '<\n\tone\n\ttwo\n >'],
  ['number', 1.5, '1.5'],
  ['bigint', 10n, '10'],
  ['boolean', true, 'true'],
  ['null', null, '<nil>'],
  ['undefined', undefined, '<nil>'],
  ['error', new Error('broken'), '"broken"'],
  ['object reference', { name: 'a', namespace: 'ns' }, '"ns/a"'],
  ['reference without namespace', { name: 'a', namespace: '' }, '"a"'],
  ['list', ['a', 1], '["a",1]'],
  ['object', { a: 1 }, '{"a":1}'],
]
for (const [title, value, expected] of VALUES) {
  test(`a ${title} in a text line`, () => {
    const { lines, logger } = recorded(klogLogger)
    logger.info('m', { key: value })
    assert.equal(lines[0]!.split('"m" key=')[1], `${expected}\n`)
  })
}

test('a value that contains itself does not break logging', () => {
  const loop: Record<string, unknown> = {}
  loop['self'] = loop
  for (const make of [klogLogger, jsonLogger]) {
    const { lines, logger } = recorded(make)
    logger.info('m', { loop })
    assert.equal(lines.length, 1)
  }
})

test('errors are written at every verbosity, with err first', () => {
  const { lines, logger } = recorded(klogLogger)
  logger.verbosity(9).error(new Error('boom'), 'Sync failed', { key: 'a/b' })
  assert.deepEqual(lines, [
    'E1121 02:32:17.123000   12345 file.go:1] "Sync failed" err="boom" key="a/b"\n',
  ])
})

test('an error that is none has no err, in either form', () => {
  for (const make of [klogLogger, jsonLogger]) {
    const { lines, logger } = recorded(make)
    logger.error(undefined, 'leaderelection lost')
    assert.match(lines[0]!, /leaderelection lost"/)
    assert.doesNotMatch(lines[0]!, /\berr\b/)
  }
})

test('lines above the verbosity are left out, and levels add up', () => {
  const { lines, logger } = recorded(klogLogger, 3)
  logger.verbosity(3).info('three')
  logger.verbosity(4).info('four')
  logger.verbosity(2).verbosity(2).info('two and two')
  assert.deepEqual(
    lines.map((line) => line.split('] ')[1]),
    ['"three"\n'],
  )
  assert.equal(logger.enabled(3), true)
  assert.equal(logger.enabled(4), false)
  assert.equal(logger.verbosity(2).enabled(2), false)
})

test('fields and names are inherited, later fields win, names nest with /', () => {
  const { lines, logger } = recorded(klogLogger)
  logger
    .named('manager')
    .with({ a: 1, b: 1 })
    .named('job')
    .info('m', { b: 2 } satisfies LogFields)
  assert.match(lines[0]!, /"m" logger="manager\/job" a=1 b=2\n$/)
})

test('without a source the name stands in the header, and a dash when there is none', () => {
  const { lines, logger } = recorded(klogLogger, 0, {})
  logger.named('job').info('m')
  logger.info('m')
  assert.match(lines[0]!, /12345 job\] "m"\n$/)
  assert.match(lines[1]!, /12345 -\] "m"\n$/)
})

test('the header shows local time', () => {
  const { lines, logger } = recorded(klogLogger, 0, { utcOffsetMinutes: () => -180 })
  logger.info('m')
  assert.match(lines[0]!, /^I1120 23:32:17/)
})

test('a JSON line has ts in milliseconds, caller, msg, v and the fields; errors have err and no v', () => {
  const { lines, logger } = recorded(jsonLogger, 2)
  logger
    .verbosity(2)
    .named('job')
    .info('Starting', { workers: 5, cause: new Error('x') })
  logger.error(new Error('boom'), 'Sync failed')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      {
        ts: START_MS,
        logger: 'job',
        caller: 'file.go:1',
        msg: 'Starting',
        v: 2,
        workers: 5,
        cause: 'x',
      },
      { ts: START_MS, caller: 'file.go:1', msg: 'Sync failed', err: 'boom' },
    ],
  )
})
