// How far a run is, in words and as a bar. A total that is too small is said to be so.
import { count, percent } from '../core/format'
import { Name } from '../core/states'
import type { Run } from '../core/types'

export function Progress(props: { run: Run }) {
  const far = props.run.progress
  if (!far) return <>{props.run.steps_done ? `${props.run.steps_done} steps done` : '–'}</>
  const note = far.note ? <> <Name text={far.note} /></> : null
  if (!far.total) return <>{count(far.done)} done{note}</>
  if (far.done > far.total) {
    return <>{count(far.done)} done, more than the {count(far.total)} expected{note}</>
  }
  return (
    <>
      <progress max={far.total} value={far.done}
        aria-label={`${percent(far.done, far.total)} of ${props.run.process}`} />{' '}
      {count(far.done)} of {count(far.total)}{note}
    </>
  )
}
