import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServicePort } from '@gyropilot/api'
import { pod } from './fixtures.ts'
import { resolveTargetPort } from './target-port.ts'

const target = pod({
  containers: [
    { name: 'a', image: 'i', ports: [{ name: 'web', containerPort: 1, protocol: 'UDP' }] },
    { name: 'b', image: 'i', ports: [{ name: 'web', containerPort: 2 }] },
  ],
  initContainers: [
    { name: 'once', image: 'i', ports: [{ name: 'setup', containerPort: 3 }] },
    {
      name: 'sidecar',
      image: 'i',
      restartPolicy: 'Always',
      ports: [
        { name: 'web', containerPort: 4 },
        { name: 'metrics', containerPort: 5 },
      ],
    },
  ],
})

const cases: readonly (readonly [title: string, port: ServicePort, number: number | undefined])[] =
  [
    ['a number stays as it is', { port: 80, targetPort: 8080 }, 8080],
    ['without target the port of the Service', { port: 80 }, 80],
    ['a name of the same protocol', { port: 80, targetPort: 'web', protocol: 'TCP' }, 2],
    [
      'the protocol decides between equal names',
      { port: 80, targetPort: 'web', protocol: 'UDP' },
      1,
    ],
    ['a restartable init container comes last', { port: 80, targetPort: 'metrics' }, 5],
    ['other init containers do not serve', { port: 80, targetPort: 'setup' }, undefined],
    ['an unknown name is no port', { port: 80, targetPort: 'nope' }, undefined],
    [
      'nor is a name of another protocol',
      { port: 80, targetPort: 'metrics', protocol: 'UDP' },
      undefined,
    ],
  ]
for (const [title, port, number] of cases) {
  test(title, () => assert.equal(resolveTargetPort(target, port), number))
}
