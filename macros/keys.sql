{#- One text key from several columns, given as "a, b, c"; a null differs from every value. -#}
{% macro surrogate_key(columns) -%}
    md5(concat_ws('|'{% for column in columns.split(', ') %}, coalesce(cast({{ column }} as string), '~'){% endfor %}))
{%- endmacro %}

{#- What was tested, as far as a run shares it with its repetitions: a configuration without its method. -#}
{% macro configuration_columns() -%}
    product, product_version, protocol, backend, backend_version, threading, threads, packet_queue_size, ha_mode, scenario, testbed, tool, tool_version
{%- endmacro %}

{% macro configuration_columns_of(relation) -%}
    {% for column in configuration_columns().split(', ') %}{{ relation }}.{{ column }}{{ ",\n        " if not loop.last }}{% endfor %}
{%- endmacro %}

{#- For a group by the key of a configuration, within which these columns do not vary. -#}
{% macro any_configuration_columns() -%}
    {% for column in configuration_columns().split(', ') %}any_value({{ column }}) as {{ column }}{{ ",\n        " if not loop.last }}{% endfor %}
{%- endmacro %}

{#- A person's name for a configuration, e.g. "ISC Kea 2.2.0 DHCPv4 memfile multi x4 hot-standby". -#}
{% macro configuration_label() -%}
    concat_ws(
        ' ', product, product_version, protocol, backend,
        case
            when threading = 'multi' and threads is not null then 'multi x' || cast(threads as string)
            else threading
        end,
        case when ha_mode <> 'none' then ha_mode end,
        case when scenario <> 'basic' then scenario end,
        unnamed_folder
    )
{%- endmacro %}
