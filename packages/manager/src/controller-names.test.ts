import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controllers } from '@gyropilot/controllers'
import { cloudDescriptors } from './cloud/cloud-controller-names.ts'
import { featureGates } from './options/feature-gates.ts'
import { flagDefinitions } from './flags/kube-controller-manager-flags.ts'
import { parseFlags } from './flags/pflag.ts'
import { Options, validate, validateGates } from './options/options.ts'
import { isControllerEnabled, knownControllers, unknownItems } from './controller-names.ts'

const names = knownControllers.map(({ name }) => name)

const enabled = (...items: string[]) =>
  knownControllers
    .filter((controller) => isControllerEnabled(controller, items))
    .map(({ name }) => name)

test('Given `--controllers=*,-job,bootstrapsigner`, when resolved, then job-controller is off, bootstrap-signer-controller on, others default', () => {
  const names = enabled('*', '-job', 'bootstrapsigner')
  assert.ok(!names.includes('job-controller'))
  assert.ok(names.includes('bootstrap-signer-controller'))
  assert.ok(names.includes('deployment-controller'))
  assert.ok(!names.includes('selinux-warning-controller'))
})

test('the first item that names a controller wins', () => {
  assert.ok(!enabled('-ttl', 'ttl', '*').includes('ttl-controller'))
  assert.ok(enabled('ttl', '-ttl').includes('ttl-controller'))
})

test('without a star only named controllers run, and the token controller always', () => {
  assert.deepEqual(enabled('ttl'), ['serviceaccount-token-controller', 'ttl-controller'])
  assert.deepEqual(enabled('-serviceaccount-token'), ['serviceaccount-token-controller'])
})

test('items that name no controller are told by name', () => {
  assert.deepEqual(unknownItems(['*', 'nosuch', '-job', 'deployment']), [
    '"nosuch" is not in the list of known controllers',
  ])
  assert.deepEqual(unknownItems(['-*']), ['"*" is not in the list of known controllers'])
})

test('names are identifiers: well-formed, unique, and no alias is a name', () => {
  const aliases = knownControllers.flatMap(({ alias }) => (alias === undefined ? [] : [alias]))
  for (const name of names) assert.match(name, /^[a-z]([-a-z]*[a-z])?-controller$/)
  assert.equal(new Set([...names, ...aliases]).size, names.length + aliases.length)
})

test('Given every gate off or on, when names are listed, then the list is identical', () => {
  for (const value of [true, false]) {
    const args = [...featureGates]
      .filter(([, { locked }]) => !locked)
      .map(([gate]) => `--feature-gates=${gate}=${value}`)
    const options = new Options(parseFlags(flagDefinitions, args))
    validateGates(options)
    // Every name stays known: an item for a controller whose gate is off is no error.
    validate(
      new Options(parseFlags(flagDefinitions, [...args, `--controllers=${names.join(',')}`])),
    )
  }
  assert.equal(names.length, 52)
})

test('every controller of kube-controller-manager is built; those of a cloud run in cloud-controller-manager', () => {
  const built = new Set([...controllers, ...cloudDescriptors].map(({ name }) => name))
  assert.deepEqual(
    names.filter((name) => !built.has(name)),
    [],
  )
})
