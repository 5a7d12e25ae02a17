/** What docs/behaviour/simulation/kubelet.md says of pods that take what they are told to. */
import assert from 'node:assert/strict'
import type { Service } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const service = (name: string): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
})

/** Consumers behind a Service, whom a second Service in front of their controller spreads the load over, and an autoscaler. */
async function serve(world: World): Promise<void> {
  const metadata = (app: string) => ({ labels: { app } })
  await world.of(resources.deployments).create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: metadata('web'),
        spec: {
          containers: [
            { name: 'c', image: 'resource-consumer:1', resources: { requests: { cpu: '500m' } } },
          ],
        },
      },
    },
  })
  await world.of(resources.pods).create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'spread', ...metadata('spread') },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'agnhost:2',
          args: [
            'resource-consumer-controller',
            '--consumer-service-name=web',
            '--consumer-port=80',
          ],
        },
      ],
    },
  })
  for (const name of ['web', 'spread']) await world.of(resources.services).create(service(name))
  await world.of(resources.horizontalpodautoscalers).create({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 5,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 20 } },
        },
      ],
    },
  })
  await world.advance(20_000)
}

/** A pod that asks once. */
async function ask(world: World, name: string, url: string): Promise<void> {
  await world.of(resources.pods).create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'c',
          image: 'busybox:1',
          command: ['curl', '-s', '-o', '/dev/null', '-X', 'POST', url],
        },
      ],
    },
  })
}

async function replicas(world: World): Promise<number | undefined> {
  return (await world.find(resources.deployments, 'web'))?.spec?.replicas
}

scenario('an autoscaler follows what pods are told to take, up and down again', async (world) => {
  await serve(world)
  assert.equal(await replicas(world), 1)
  const consume = (millicores: number, seconds: number): string =>
    `http://spread/ConsumeCPU?millicores=${millicores}&durationSec=${seconds}&requestSizeMillicores=10`
  // 250m are half of what one pod asks for, and a fifth of what three do.
  await ask(world, 'asks', consume(250, 120))
  await world.advance(90_000)
  assert.equal(await replicas(world), 3)
  await world.advance(600_000)
  assert.equal(await replicas(world), 1)
})
