import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isColored, jsonTerminal, textTerminal, untilStopping } from './terminal.ts'

test('colours are for terminals that know them, and for people who did not say no', () => {
  const terminal = { isTTY: true }
  for (const [stream, environment, is] of [
    [terminal, {}, true],
    [terminal, { TERM: 'xterm-256color', NO_COLOR: '' }, true],
    [terminal, { NO_COLOR: '1' }, false],
    [terminal, { TERM: 'dumb' }, false],
    [{}, {}, false],
    [{ isTTY: false }, { TERM: 'xterm' }, false],
  ] as const)
    assert.equal(isColored(stream, environment), is, JSON.stringify([stream, environment]))
})

test('that it stops is the last word', () => {
  let said = ''
  const write = (text: string): void => void (said += text)
  const terminal = untilStopping(textTerminal({ write, color: false, nowMs: () => 0 }))
  terminal.line({ level: 'normal', text: 'a' })
  terminal.stopping()
  terminal.line({ level: 'warning', text: 'b' })
  const facts = { readyMs: 1, server: 's', kubeconfig: 'k', parts: [], dataDir: '' }
  terminal.banner({ ...facts, managerPids: [], notes: [] })
  assert.equal(said, '00:00:00  a\n\nstopping\n')
})

test('for programs the first line says that it is ready, though a manager was faster', () => {
  const facts = { readyMs: 1, server: 's', kubeconfig: 'k', parts: [], dataDir: '' }
  const started = (): { said: string[]; terminal: ReturnType<typeof jsonTerminal> } => {
    const said: string[] = []
    let now = 0
    const write = (text: string): void => {
      const { time, type } = JSON.parse(text) as { time: string; type: string }
      said.push(`${type} ${Date.parse(time)}`)
    }
    return { said, terminal: jsonTerminal({ write, color: false, nowMs: () => now++ }) }
  }
  const { said, terminal } = started()
  terminal.line({ level: 'normal', text: 'manager 1 is the leader' })
  assert.deepEqual(said, [])
  terminal.banner({ ...facts, managerPids: [], notes: [] })
  terminal.line({ level: 'normal', text: 'later' })
  assert.deepEqual(said, ['ready 1', 'event 0', 'event 2'])
  const interrupted = started()
  interrupted.terminal.line({ level: 'warning', text: 'manager 1 ended' })
  interrupted.terminal.stopping()
  assert.deepEqual(interrupted.said, ['event 0', 'stopping 1'])
})

test('the last line of the banner says what stops the cluster', () => {
  const facts = { readyMs: 1, server: 's', kubeconfig: 'k', parts: [], dataDir: '' }
  for (const [more, last] of [
    [{}, 'Ctrl-C stops the cluster.'],
    [{ log: 'l' }, 'gyro down stops the cluster.'],
    [{ log: 'l', unknownProcess: 42 }, 'kill 42 stops the cluster.'],
  ] as const) {
    let said = ''
    const write = (text: string): void => void (said += text)
    textTerminal({ write, color: false, nowMs: () => 0 }).banner({
      ...facts,
      managerPids: [],
      notes: [],
      ...more,
    })
    assert.equal(said.trimEnd().split('\n').at(-1), last)
  }
})
