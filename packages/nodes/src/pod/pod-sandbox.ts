/** The sandbox of a pod, which its containers run in: by what runtime, and with what address. Contract: docs/behaviour/simulation/kubelet.md, Life of a pod. */
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import { orMissing } from '../container/missing.ts'
import type { NodeServices } from './node-services.ts'
import { takeAddresses } from './pod-address.ts'

/** As long as a kubelet takes to look at a pod again. */
const RETRY_MS = 10_000

/** Those that guides for sandboxes, accelerators and WebAssembly have one configure, and the one that conformance tests look for. */
const HANDLERS =
  /^(?:runc|crun|youki|runsc|gvisor|kata(?:-[a-z]+)*|nvidia|sysbox-runc|spin|wasm|wasmtime|wasmedge|test-handler)$/

/** The addresses that the pod has from now on; undefined: it was over before it could have any. */
export async function makeSandbox(
  node: NodeServices,
  pod: Pod,
  life: AbortSignal,
  isOver: () => boolean,
): Promise<readonly string[] | undefined> {
  for (;;) {
    const problem = await handlerProblem(node, pod)
    if (isOver()) return undefined
    if (problem === undefined) return takeAddresses(node, pod, life, isOver)
    const message = `Failed to create pod sandbox: ${problem}`
    const reason = 'FailedCreatePodSandBox'
    node.recorder.record({ regarding: pod, type: 'Warning', reason, message })
    await sleep(node.clock, RETRY_MS, life)
  }
}

/** Undefined: the node has the runtime that the pod's class asks for, or none is asked for. */
async function handlerProblem(
  { client }: NodeServices,
  { spec }: Pod,
): Promise<string | undefined> {
  const name = spec?.runtimeClassName ?? ''
  if (name === '') return undefined
  const found = await orMissing(client.resource(resources.runtimeclasses).get(name))
  if (found === undefined) return `runtimeclass.node.k8s.io ${JSON.stringify(name)} not found`
  if (HANDLERS.test(found.handler)) return undefined
  return `rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for ${JSON.stringify(found.handler)} is configured`
}
