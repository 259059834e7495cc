// The parents of an aggregation by state, as one bar.
import { count } from '../core/format'
import { Figure } from './figure'

export interface Parents {
  open: number
  closed: number
  settled: number
  void: number
}

export function ParentsBar(props: { parents: Parents }) {
  const { open, closed, settled } = props.parents
  const all = Math.max(1, open + closed + settled)
  const says =
    `${count(open)} parents open, ${count(closed)} closed, ${count(settled)} settled` +
    (props.parents.void ? `, ${count(props.parents.void)} void.` : '.')
  const parts = [
    { tone: 'run', many: open },
    { tone: 'wait', many: closed },
    { tone: 'done', many: settled },
  ]
  return (
    <Figure says={says} height={20}
      draw={(width) => {
        let x = 0
        return parts.map((one) => {
          const wide = (one.many / all) * width
          const at = x
          x += wide
          return one.many > 0 ? (
            <rect class={`cell c-${one.tone}`} x={at + 0.5} y={1.5} width={Math.max(1, wide - 1)}
              height={17} />
          ) : null
        })
      }} />
  )
}
