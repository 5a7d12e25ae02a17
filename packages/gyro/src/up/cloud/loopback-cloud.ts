/** The loopback cloud of `gyro up`: its balancers lead to simulated pods, which answer HTTP with their names. */
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { LoopbackCloud, loopbackConfig } from '@gyropilot/cloud-loopback'
import type { BackEnd, PodNetwork } from '@gyropilot/cloud-loopback'
import { machineNetwork } from '@gyropilot/cloud-loopback/network'
import type { ProviderSettings } from '@gyropilot/cloud-provider'
import type { CloudParts } from './parts.ts'

export function loopbackCloud(
  { clock, logger, config }: ProviderSettings,
  parts: CloudParts,
): LoopbackCloud {
  return new LoopbackCloud({
    clock,
    logger,
    config: loopbackConfig(config),
    network: machineNetwork,
    pods: simulatedPods(parts),
  })
}

function simulatedPods(parts: CloudParts): PodNetwork {
  const podOf = async ({ pod }: BackEnd): Promise<Pod | undefined> =>
    pod && (await parts.client().resource(resources.pods, pod.namespace).get(pod.name))
  return {
    async connect(backEnd, { input, output, signal }) {
      const kubelet = parts.kubeletOf(backEnd.nodeName ?? '')
      const pod = await podOf(backEnd)
      if (kubelet === undefined || pod === undefined)
        return `no simulated node answers for ${backEnd.ip}:${backEnd.port}`
      return kubelet.forward(pod as never, backEnd.port, { input, output, signal })
    },
    async exchange(backEnd, bytes) {
      const pod = await podOf(backEnd)
      if (pod === undefined || !listensForDatagrams(pod, backEnd.port)) return undefined
      const { namespace, name } = pod.metadata ?? {}
      const text = `simulated pod ${namespace}/${name} on ${pod.spec?.nodeName}: port ${backEnd.port}, ${bytes.length} bytes\n`
      return Buffer.from(text)
    },
  }
}

function listensForDatagrams(pod: Pod, port: number): boolean {
  return (pod.spec?.containers ?? []).some(({ ports = [] }) =>
    ports.some(({ containerPort, protocol }) => containerPort === port && protocol === 'UDP'),
  )
}
