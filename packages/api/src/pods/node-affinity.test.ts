import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, NodeSelectorTerm, PodSpec } from '../generated/core-v1.ts'
import { nodeAffinityMatches } from './node-affinity.ts'

const node: Node = { metadata: { name: 'n', labels: { zone: 'a', cpus: '8' } } }

function required(...nodeSelectorTerms: readonly NodeSelectorTerm[]): Pick<PodSpec, 'affinity'> {
  return {
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
    },
  }
}

function expression(key: string, operator: string, ...values: readonly string[]): NodeSelectorTerm {
  return { matchExpressions: [{ key, operator, values }] } as NodeSelectorTerm
}

function field(operator: 'In' | 'NotIn', name: string): NodeSelectorTerm {
  return { matchFields: [{ key: 'metadata.name', operator, values: [name] }] }
}

const cases: readonly (readonly [string, Parameters<typeof nodeAffinityMatches>[0], boolean])[] = [
  ['nothing asked for', {}, true],
  ['no spec', undefined, true],
  ['a label it has', { nodeSelector: { zone: 'a' } }, true],
  ['a label of another value', { nodeSelector: { zone: 'b' } }, false],
  ['a label it lacks', { nodeSelector: { zone: 'a', other: '' } }, false],
  ['no terms match no node', required(), false],
  ['an empty term matches no node', required({}), false],
  ['In', required(expression('zone', 'In', 'b', 'a')), true],
  ['NotIn', required(expression('zone', 'NotIn', 'b')), true],
  ['Exists', required(expression('zone', 'Exists')), true],
  ['DoesNotExist', required(expression('zone', 'DoesNotExist')), false],
  ['Gt', required(expression('cpus', 'Gt', '7')), true],
  ['Lt', required(expression('cpus', 'Lt', '8')), false],
  ['no such operator', required(expression('cpus', 'Near', '8')), false],
  ['its name', required(field('In', 'n')), true],
  ['another name', required(field('In', 'm')), false],
  ['not its name', required(field('NotIn', 'n')), false],
  ['one of two terms is enough', required(field('In', 'm'), expression('zone', 'Exists')), true],
  [
    'both parts of a term',
    required({ ...field('In', 'm'), ...expression('zone', 'Exists') }),
    false,
  ],
  [
    'selector and affinity',
    { nodeSelector: { zone: 'b' }, ...required(expression('zone', 'Exists')) },
    false,
  ],
]
for (const [title, spec, expected] of cases)
  test(title, () => assert.equal(nodeAffinityMatches(spec, node), expected))

test('a node without labels and name has none of them', () => {
  assert.ok(!nodeAffinityMatches({ nodeSelector: { zone: 'a' } }, {}))
  assert.ok(!nodeAffinityMatches(required(field('In', 'n')), {}))
})
