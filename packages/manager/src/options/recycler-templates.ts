/** Pods that empty volumes, from the files that two flags name. */
import type { Pod } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import { managerErrors } from '../errors.ts'

export type RecyclerTemplates = Partial<Record<'nfs' | 'hostPath', Pod>>

const FLAGS = {
  nfs: 'pv-recycler-pod-template-filepath-nfs',
  hostPath: 'pv-recycler-pod-template-filepath-hostpath',
} as const

/** `textOfFile` answers the content of the file that a flag names, empty without one. Rejects for what is no pod with a volume. */
export async function recyclerTemplates(
  textOfFile: (flag: string) => Promise<string>,
): Promise<RecyclerTemplates> {
  const [nfs, hostPath] = await Promise.all([template('nfs'), template('hostPath')])
  return { ...(nfs && { nfs }), ...(hostPath && { hostPath }) }

  async function template(plugin: 'nfs' | 'hostPath'): Promise<Pod | undefined> {
    const text = await textOfFile(FLAGS[plugin])
    if (text === '') return undefined
    // Hardly anybody has one.
    const { yamlValue } = await import('@gyropilot/foundation/yaml')
    const refuse = (why: string): Error =>
      managerErrors.make('OPTIONS_INVALID', `--${FLAGS[plugin]} names no pod template: ${why}`)
    let pod: Pod
    try {
      pod = yamlValue(text) as Pod
    } catch (error) {
      throw refuse(errorText(error))
    }
    if (pod?.kind !== 'Pod') throw refuse('its kind is not Pod')
    if ((pod.spec?.volumes ?? []).length === 0) throw refuse('it has no volume to be emptied')
    return pod
  }
}
