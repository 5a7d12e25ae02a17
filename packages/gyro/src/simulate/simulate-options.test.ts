import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULT_KINDS } from '@gyropilot/cluster'
import { GyropilotError } from '@gyropilot/foundation'
import { simulateOptions } from './simulate-options.ts'

test('without flags: ten minutes of everything', () => {
  const { seed, seeds, minutes, faults, intensity, nodes, managers, output } = simulateOptions([])
  assert.deepEqual(
    { seed, seeds, minutes, intensity, nodes, managers, output },
    { seed: '', seeds: 1, minutes: 10, intensity: 1, nodes: 3, managers: 2, output: 'text' },
  )
  assert.deepEqual(faults, FAULT_KINDS)
})

test('a hastier user, and PodGroups', () => {
  const given = simulateOptions(['--pause', '1.5', '--pod-groups'])
  assert.deepEqual([given.pause, given.podGroups], [1.5, true])
  const usual = simulateOptions([])
  assert.deepEqual([usual.pause, usual.podGroups], [5, false])
})

test('faults are chosen by name', () => {
  assert.deepEqual(simulateOptions(['--faults', 'none']).faults, [])
  assert.deepEqual(simulateOptions(['--faults', 'gap,crash']).faults, ['gap', 'crash'])
})

const REFUSED: readonly (readonly [readonly string[], RegExp])[] = [
  [['--faults', 'rain'], /--faults names "rain": use all, none or some of crash, /],
  [['--minutes', '-1'], /--minutes=-1 is out of range: use 0 to 10080/],
  [['--intensity', '101'], /--intensity=101 is out of range: use 0 to 100/],
  [['--pause', '0'], /--pause=0 is out of range: use 0.1 to 3600/],
  [['--managers', '0'], /--managers=0 is out of range: use 1 to 9/],
  [['--sed', '5'], /unknown flag --sed: did you mean --seed\?$/],
  [['--faults', 'crashs'], /--faults names "crashs"/],
  [['--minutes', 'x'], /--minutes=x is not a whole number/],
  [
    ['--explore', '--only', 'rain 3'],
    /--only=rain 3 is no disturbance with its position: use one of crash/,
  ],
  [['--explore', '--only', 'event lost'], /--only=event lost is no disturbance with its position/],
  [['--stride', '3'], /^--stride has no effect without --explore$/],
  [['--only', 'crash 3'], /^--only has no effect without --explore$/],
  [['--explore', '--minutes', '5'], /^--minutes has no effect with --explore$/],
  [['--schedule', '[]', '--explore'], /^--schedule has no effect with --explore$/],
  [['--output', 'yaml'], /--output=yaml is not known: use text or json/],
]
for (const [args, wanted] of REFUSED) {
  test(`${args.join(' ')} is refused with exit code 2`, () => {
    assert.throws(
      () => simulateOptions(args),
      (error) =>
        error instanceof GyropilotError && error.exitCode === 2 && wanted.test(error.message),
    )
  })
}

test('one schedule of an exploration is named as a failure names it', () => {
  const { only } = simulateOptions(['--explore', '--only', 'write applied, answer lost 12'])
  assert.deepEqual(only, { disturbance: 'write applied, answer lost', position: 12 })
})
