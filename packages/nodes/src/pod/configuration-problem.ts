import type { Container, Pod } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import { PodSources } from '../container/pod-files.ts'
import type { PodStorage } from '../container/pod-storage.ts'
import { containerProblem } from './container-problems.ts'
import type { NodeServices } from './node-services.ts'

/** Why a container cannot be made now: for what it refers to in the cluster, or by itself. Undefined: it can. */
export async function configurationProblem(
  { references, client, nodeName }: NodeServices,
  pod: Pod,
  container: Container,
  files: () => PodStorage,
): Promise<string | undefined> {
  const problem = await references.environmentProblem(pod, container)
  if (problem !== undefined) return problem
  const sources = new PodSources(client, pod, files)
  try {
    const inFile = await sources.fileKeyProblem(container)
    if (inFile !== undefined) return inFile
    return await containerProblem(pod, container, () => sources.environment(container, nodeName))
  } catch (error) {
    // The server did not answer: it is asked again as for what is missing.
    return errorText(error)
  }
}
